import {
  CeremonyError,
  creationOptions,
  requestOptions,
  verifyAuthentication,
  verifyRegistration,
} from "@/lib/auth/passkey-ceremony";
import { challengeBrowser, expectedOf } from "@/lib/auth/passkey-challenge";
import type { Db } from "@/lib/db/store";
import { clearCookie, cookieHeaders, readCookie, writeCookie } from "@/lib/http/cookies";
import { ApiError } from "@/lib/http/errors";
import type { HandlerRequest } from "@/lib/http/handler";
import type { ResponseParts } from "@/lib/http/response";
import {
  addOperatorPasskey,
  changeOperator,
  findByLink,
  findOperatorPasskey,
  linkMinutes,
  listCredentialIds,
  type Operator,
  officeParty,
  useOperatorPasskey,
} from "@/lib/office/operators";
import { type OfficeSession, proveSession, startSession } from "@/lib/office/session";

/*
 * The three ceremonies of the office: adding a passkey with a link, signing in, and proving in a session that it is still
 * the operator. Each is two POSTs of the page's script, and a challenge is good for one of the three alone.
 */

const kept = "operator-browser";
const signInPurpose = "operator sign in";
const linkPurpose = ({ id }: Operator) => `operator ${id} adds a passkey`;
const proofPurpose = ({ operator }: OfficeSession) => `operator ${operator.id} proves`;

/** The options to create a passkey, for the holder of the link. Its token is kept in a cookie until the passkey comes. */
export async function startPasskey(db: Db, call: HandlerRequest): Promise<ResponseParts> {
  const token = new URLSearchParams(call.body.toString()).get("link") ?? "";
  const operator = (await findByLink(db, token, call.nowMs)) ?? refuseLink();
  const { challenge, cookie } = challengeBrowser(call, linkPurpose(operator), kept);
  const ids = await listCredentialIds(db, operator.id);
  const options = creationOptions(officeParty(), challenge, operator, ids);
  return answer(options, [cookie, writeCookie("operator-link", token, linkMinutes * 60)]);
}

/** Adds the passkey that the browser has created, and signs the operator in. */
export async function finishPasskey(db: Db, call: HandlerRequest): Promise<ResponseParts> {
  const { headers, nowMs, body } = call;
  const token = readCookie(headers, "operator-link") ?? "";
  const operator = (await findByLink(db, token, nowMs)) ?? refuseLink();
  const isExpected = expectedOf(call, linkPurpose(operator), kept);
  const verified = await verifyRegistration(officeParty(), body, isExpected);
  if (!(await addOperatorPasskey(db, operator, { token, ...verified }, nowMs))) {
    throw new CeremonyError("the link, the challenge or the passkey was used before");
  }
  return answer({}, [await signIn(db, operator, call), clearCookie("operator-link")]);
}

/** The options to sign in, or to prove in a session that it is still its operator. Only the challenge differs. */
export function askForPasskey(call: HandlerRequest, session?: OfficeSession): ResponseParts {
  const { challenge, cookie } = challengeBrowser(call, session ? proofPurpose(session) : signInPurpose, kept);
  return answer(requestOptions(officeParty(), challenge), [cookie]);
}

/** Signs an operator in by a passkey. Throws a 400 without a reason, which only the log has. */
export async function signInWithPasskey(db: Db, call: HandlerRequest): Promise<ResponseParts> {
  const { operator, use } = await verify(db, call, signInPurpose);
  return answer({}, [await signIn(db, operator, call, use)]);
}

/** Records the proof in the session, which gets another cookie. A passkey of another operator proves nothing here. */
export async function prove(db: Db, call: HandlerRequest, session: OfficeSession): Promise<ResponseParts> {
  const { operator, use } = await verify(db, call, proofPurpose(session));
  if (operator.id !== session.operator.id) throw new CeremonyError("the passkey is of another operator");
  const change = { what: "operator proof", name: operator.name };
  const cookie = await changeOperator(db, change, call.nowMs, async (transaction) => {
    await use(transaction);
    const cookie = await proveSession(transaction, session.idHash, call.nowMs);
    return cookie ?? Promise.reject(new CeremonyError("the session has ended"));
  });
  return answer({}, [cookie]);
}

/** Reads and verifies a signature. `use` uses passkey and challenge up, in the transaction of what they are good for. */
async function verify(db: Db, call: HandlerRequest, purpose: string) {
  const isExpected = expectedOf(call, purpose, kept);
  const find = async (credentialId: string) =>
    (await findOperatorPasskey(db, credentialId)) ??
    Promise.reject(new CeremonyError("the passkey is not registered here"));
  const signed = await verifyAuthentication(officeParty(), call.body, isExpected, find);
  const use = async (transaction: Db) => {
    if (await useOperatorPasskey(transaction, signed.passkey.credentialId, signed, call.nowMs)) return;
    throw new CeremonyError("the passkey or its challenge was used before");
  };
  return { operator: signed.passkey, use };
}

function signIn(
  db: Db,
  { id, name }: Operator,
  call: HandlerRequest,
  use: (transaction: Db) => Promise<void> = async () => {},
): Promise<string> {
  return changeOperator(db, { what: "operator sign-in", name }, call.nowMs, async (transaction) => {
    await use(transaction);
    return startSession(transaction, id, call);
  });
}

function answer(body: object, cookies: string[]): ResponseParts {
  return { status: 200, body, headers: cookieHeaders(cookies) };
}

function refuseLink(): never {
  throw new ApiError("invalid_token", {
    status: 403,
    message: "This link was used, was replaced by a newer one, or is more than 15 minutes old.",
    hint: "Ask for a new one: 'admin operator add' prints it.",
  });
}
