import type { AdapterPayload, InteractionResults } from "oidc-provider";
import { ownClientKey } from "@/lib/api/client-address";
import { counter } from "@/lib/api/rate-limit";
import { appSessionId } from "@/lib/connect/app-session";
import { authorizationServer } from "@/lib/connect/authorization-server";
import { describeClient } from "@/lib/connect/clients";
import { lifetimes } from "@/lib/connect/lifetimes";
import { RegisteredClients } from "@/lib/connect/registered-clients";
import { accountScope, resourceAddresses } from "@/lib/connect/resources";
import { ConnectState } from "@/lib/connect/state";
import { endSession, startAppSession } from "@/lib/session/session";
import { noteChange } from "@/lib/store/audit";
import type { Db } from "@/lib/store/store";

/** What waits for its owner's word: an app in this browser, or a device elsewhere that shows a code. */
export type Ask = { by: "request"; uid: string } | { by: "user_code"; code: string };

/** Who asks, as its owner is told. */
export type Asking = ReturnType<typeof describeClient> & { redirectsTo: string | undefined };

const requests = new ConnectState("Interaction");
const devices = new ConnectState("DeviceCode");

/** What an address or a form asks about; `undefined` when it names nothing. */
export function readAsk(field: (name: Ask["by"]) => string | undefined): Ask | undefined {
  const uid = field("request");
  const code = field("user_code");
  if (uid) return { by: "request", uid };
  return code ? { by: "user_code", code } : undefined;
}

/**
 * Who asks; `undefined` when it was answered, has run out, or never was. A request is answered in the browser that
 * it was begun in: nobody can hand somebody else's to an owner.
 *
 * @param heldUid - the request that the browser's cookie names
 */
export async function findAsking(ask: Ask, heldUid: string | undefined): Promise<Asking | undefined> {
  const params = isHeld(ask, heldUid) ? await readParams(ask) : undefined;
  const client = params && (await (await authorizationServer()).Client.find(String(params.client_id)));
  if (!client) return undefined;
  const { redirect_uri } = params;
  return {
    ...describeClient(client.metadata()),
    redirectsTo: typeof redirect_uri === "string" ? redirect_uri : undefined,
  };
}

/** Whether what asks has its answer: who presses a button twice is led on by both, and the first word counts. */
export async function isAnswered(ask: Ask, heldUid: string | undefined): Promise<boolean> {
  const kept = isHeld(ask, heldUid) ? await read(ask) : undefined;
  return kept !== undefined && !isWaiting(kept);
}

/**
 * Lets an app in for this account, for a week, unless it was answered: its session begins, and the app may fetch its
 * tokens.
 */
export async function approve(
  db: Db,
  ask: Ask,
  asking: Asking,
  owner: { id: string; subject: string },
  nowMs: number,
): Promise<void> {
  const params = await readParams(ask);
  if (!params) return;
  const resources = [params.resource ?? resourceAddresses()[0]].flat().map(String);
  const grantId = await grant(asking.id, owner.subject, resources);
  const endsAtMs = nowMs + lifetimes.session * 1000;
  const session = { id: appSessionId(grantId), accountId: owner.id, name: asking.name, endsAtMs };
  await startAppSession(db, session, nowMs);
  await new RegisteredClients().keep(asking.id, lifetimes.usedClient);
  const isFirst = await settle(ask, {
    onRequest: { login: { accountId: owner.subject, remember: false }, consent: { grantId } },
    onDevice: {
      accountId: owner.subject,
      grantId,
      scope: accountScope,
      resource: resources.length === 1 ? resources[0] : resources,
      authTime: Math.floor(nowMs / 1000),
    },
  });
  if (!isFirst) await endSession(db, { by: "service", what: "app end" }, session.id, nowMs);
}

/**
 * Turns an app away, unless it was answered: it is told so. The entry of the audit comes first, and stands where the
 * telling fails.
 */
export async function decline(
  db: Db,
  ask: Ask,
  { name }: Asking,
  { email }: { email: string },
  nowMs: number,
): Promise<void> {
  if (!(await readParams(ask))) return;
  await noteChange(db, { by: "owner", what: "app decline", whom: email, after: { name } }, nowMs);
  const description = "The owner of the account declined.";
  await settle(ask, {
    onRequest: { error: "access_denied", error_description: description },
    onDevice: { error: "access_denied", errorDescription: description },
  });
}

/**
 * Codes that may be looked up in ten minutes, from one client address and from all that cannot be told apart. A code is
 * one of 20^8 and lives ten minutes: thirty guesses find a given one once in 850 million times (RFC 8628 §5.1).
 */
const mostLookUps = { ofOne: 30, ofAllUnknown: 3000 };
const windowSeconds = 10 * 60; // 10 minutes

/** Whether whoever asks may look up another device's code. */
export async function mayLookUp(headers: Headers): Promise<boolean> {
  const client = ownClientKey(headers);
  const ofAll = counter("user-codes-of-unknown", mostLookUps.ofAllUnknown, { windowSeconds });
  const of = client ? counter("user-codes", mostLookUps.ofOne, { windowSeconds }) : ofAll;
  return (await of.spend(client ?? "all", performance.now())).allowed;
}

function isHeld(ask: Ask, heldUid: string | undefined): boolean {
  return ask.by === "user_code" || ask.uid === heldUid;
}

async function readParams(ask: Ask): Promise<Record<string, unknown> | undefined> {
  const kept = await read(ask);
  return kept && isWaiting(kept) ? kept.params : undefined;
}

function read(ask: Ask): Promise<AdapterPayload | undefined> {
  const { state, by, id } = placeOf(ask);
  return state.read(by, id);
}

/** Where what asks is kept until it has its answer. */
function placeOf(ask: Ask) {
  return ask.by === "request"
    ? ({ state: requests, by: "id_hash", id: ask.uid } as const)
    : ({ state: devices, by: "look_up_hash", id: normalize(ask.code) } as const);
}

function isWaiting({ result, accountId, error }: AdapterPayload): boolean {
  return !result && !accountId && !error;
}

async function grant(clientId: string, accountId: string, resources: string[]): Promise<string> {
  const { Grant } = await authorizationServer();
  const made = new Grant({ clientId, accountId });
  for (const resource of resources) made.addResourceScope(resource, accountScope);
  return made.save();
}

/**
 * Writes an answer down, which the authorization server passes on: to an app when the browser comes back, to a device
 * when it asks next. Answers false when there was one meanwhile.
 */
async function settle(
  ask: Ask,
  { onRequest, onDevice }: { onRequest: InteractionResults; onDevice: AdapterPayload },
): Promise<boolean> {
  const { state, by, id } = placeOf(ask);
  const kept = await state.read(by, id);
  if (!kept || !isWaiting(kept)) return false;
  return state.amend(by, id, kept, ask.by === "request" ? { result: onRequest } : onDevice);
}

/** A code as it was made, however it was typed: letters alone, in upper case. */
function normalize(userCode: string): string {
  return userCode.toUpperCase().replace(/[^A-Z]/g, "");
}
