import { changeOperator, linkMinutes, type Operator, operatorsSite } from "@/lib/auth/operators";
import { CeremonyError } from "@/lib/auth/passkeys/passkey-ceremony";
import {
  askToCreate,
  askToSign,
  consumeChallenge,
  notCounted,
  readCreated,
  readSigned,
  usePasskey,
} from "@/lib/auth/passkeys/passkey-exchange";
import { hasRow } from "@/lib/db/has-row";
import { type Db, store } from "@/lib/db/store";
import type { Call } from "@/lib/http/call";
import { clearCookie, cookieHeaders, readCookie, writeCookie } from "@/lib/http/cookies";
import { ApiError } from "@/lib/http/errors";
import type { ResponseParts } from "@/lib/http/response";
import { type OfficeSession, proveSession, startSession } from "@/lib/office/session";
import { hashSecret } from "@/lib/runtime/secret";

/* Adding a passkey by a link, signing in, and proving in a session. A challenge is good for one of the three alone. */

const linkPurpose = ({ id }: Operator) => `operator ${id} adds a passkey`;
const purposeOf = (session: OfficeSession | undefined) =>
  session ? `operator ${session.operator.id} proves` : "operator sign in";

/** The options to create a passkey, for the holder of the link. Its token is kept in a cookie until the passkey comes. */
export async function startPasskey(call: Call): Promise<ResponseParts> {
  const db = await store();
  const token = call.fields.get("link") ?? "";
  const operator = await requireLink(db, token, call.nowMs);
  const passkeys = db.selectFrom("operator_passkeys").select("credential_id");
  const rows = await passkeys.where("operator_id", "=", operator.id).execute();
  return askToCreate(call, operatorsSite(), linkPurpose(operator), {
    user: operator,
    excludedIds: rows.map(({ credential_id }) => credential_id),
    cookies: [writeCookie("operator-link", token, linkMinutes * 60)],
  });
}

/** Adds the passkey that the browser has created, which uses the link up, and signs the operator in. */
export async function finishPasskey(call: Call): Promise<ResponseParts> {
  const { headers, nowMs } = call;
  const db = await store();
  const token = readCookie(headers, "operator-link") ?? "";
  const operator = await requireLink(db, token, nowMs);
  const { credential, challenge } = await readCreated(call, operatorsSite(), linkPurpose(operator));
  const change = { what: "operator passkey", name: operator.name };
  await changeOperator(db, change, nowMs, async (transaction) => {
    const link = transaction
      .updateTable("operators")
      .set({ link_hash: null, link_until_ms: null })
      .where("link_hash", "=", hashSecret("operator-link", token))
      .returning("id");
    const added = transaction
      .insertInto("operator_passkeys")
      .values({ ...credential, operator_id: operator.id, added_at_ms: nowMs })
      .onConflict((conflict) => conflict.column("credential_id").doNothing())
      .returning("credential_id");
    const isNew = (await hasRow(link)) && (await consumeChallenge(transaction, challenge, nowMs));
    if (isNew && (await hasRow(added))) return;
    throw new CeremonyError("the link, the challenge or the passkey was used before");
  });
  const signIn = { what: "operator sign-in", name: operator.name };
  const cookie = await changeOperator(db, signIn, nowMs, (transaction) =>
    startSession(transaction, operator, call),
  );
  return answer({}, [cookie, clearCookie("operator-link")]);
}

/** The operator whom a link is for. Throws an {@link ApiError} if it was used or replaced, or has expired. */
async function requireLink(db: Db, token: string, nowMs: number): Promise<Operator> {
  const operator = await db
    .selectFrom("operators")
    .select(["id", "name"])
    .where("link_hash", "=", hashSecret("operator-link", token))
    .where("link_until_ms", ">", nowMs)
    .executeTakeFirst();
  if (operator) return operator;
  throw new ApiError("invalid_token", {
    status: 403,
    message: "This link was used, was replaced by a newer one, or is more than 15 minutes old.",
    hint: "Ask for a new one: 'admin operator add' prints it.",
  });
}

/** The options to sign in, or to prove in a session that it is still its operator. Only the challenge differs. */
export function askForPasskey(call: Call, session?: OfficeSession): ResponseParts {
  return askToSign(call, operatorsSite(), purposeOf(session));
}

/**
 * Signs an operator in by a passkey. In a session it records the proof instead, and the session gets another cookie.
 * Throws a 400 without a reason, which only the log has.
 */
export async function acceptPasskey(call: Call, session?: OfficeSession): Promise<ResponseParts> {
  const { nowMs } = call;
  const db = await store();
  const signed = await readSigned(call, operatorsSite(), purposeOf(session), (credentialId) =>
    requirePasskey(db, credentialId),
  );
  const { passkey } = signed;
  const { id, name } = passkey;
  if (session && id !== session.operator.id) throw new CeremonyError("the passkey is of another operator");
  const what = session ? "operator proof" : "operator sign-in";
  const cookie = await changeOperator(db, { what, name }, nowMs, async (transaction) => {
    const reason = await usePasskey(transaction, operatorsSite(), signed, nowMs);
    if (reason) throw new CeremonyError(notCounted[reason]);
    return session ? proveSession(transaction, session, nowMs) : startSession(transaction, passkey, call);
  });
  return answer({}, [cookie]);
}

/** What a passkey signs names its host, so one that was made for another host signs no one in. */
async function requirePasskey(db: Db, credentialId: string) {
  const passkey = await db
    .selectFrom("operator_passkeys")
    .innerJoin("operators", "operators.id", "operator_passkeys.operator_id")
    .select(["operators.id", "operators.name", "credential_id", "public_key"])
    .where("credential_id", "=", credentialId)
    .executeTakeFirst();
  return passkey ?? Promise.reject(new CeremonyError("the passkey is not registered here"));
}

function answer(body: object, cookies: string[]): ResponseParts {
  return { status: 200, body, headers: cookieHeaders(cookies) };
}
