import type { AdapterPayload, InteractionResults } from "oidc-provider";
import type { Owner } from "@/lib/accounts/owner";
import { endSession, startAppSession } from "@/lib/auth/session";
import { recordAudit } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import { OAuthState } from "@/lib/oauth/adapter";
import { appSessionId } from "@/lib/oauth/app-session";
import { authorizationServer } from "@/lib/oauth/authorization-server";
import { lifetimes } from "@/lib/oauth/lifetimes";
import { RegisteredClients } from "@/lib/oauth/registered-clients";
import { describeClient, nameSession, type RequestingClient } from "@/lib/oauth/requesting-client";
import { accountScope, resourceAddresses } from "@/lib/oauth/resources";
import { knownClientKey } from "@/lib/rate-limit/client-address";
import { counter } from "@/lib/rate-limit/rate-limit";
import { seal, unseal } from "@/lib/runtime/seal";

/** What waits for its owner's word: an app in this browser, or a device elsewhere whose code was typed in it. */
export type AuthorizationRequest = { by: "request"; uid: string } | { by: "user_code"; code: string };

const requests = new OAuthState("Interaction");
const devices = new OAuthState("DeviceCode");

/**
 * What waits in a browser, by its cookie: the request that was begun in it, or the device's code that was typed in it.
 * Nobody can hand an owner theirs by a link (RFC 8628 §5.4).
 */
export function readAuthorizationRequest(held: string | undefined): AuthorizationRequest | undefined {
  if (!held) return undefined;
  const [, sealed] = /^device\.(.+)$/.exec(held) ?? [];
  if (!sealed) return { by: "request", uid: held };
  const code = unseal("connect-device:v1", "", sealed);
  return code === undefined ? undefined : { by: "user_code", code };
}

/** What the cookie of a browser holds in which a device's code was typed; `undefined` when no device shows it now. */
export async function holdDevice(typed: string): Promise<string | undefined> {
  const code = normalize(typed);
  const isShown = (await readWaiting({ by: "user_code", code })) !== undefined;
  return isShown ? `device.${seal("connect-device:v1", "", code)}` : undefined;
}

/** Who asks; `undefined` when it was answered, has run out, or never was. */
export async function findRequestingClient(
  authorizationRequest: AuthorizationRequest,
): Promise<RequestingClient | undefined> {
  const kept = await readWaiting(authorizationRequest);
  const client = kept && (await (await authorizationServer()).Client.find(String(kept.params?.client_id)));
  return client && describeClient(client.metadata(), kept);
}

/** Whether what asks has its answer: who presses a button twice is led on by both, and the first word counts. */
export async function isSettled(authorizationRequest: AuthorizationRequest): Promise<boolean> {
  const kept = await read(authorizationRequest);
  return kept !== undefined && !isWaiting(kept);
}

/**
 * Lets an app in for this account, for a week, unless it was answered: its session begins, and the app may fetch its
 * tokens.
 */
export async function approve(
  db: Db,
  authorizationRequest: AuthorizationRequest,
  client: RequestingClient,
  { account, clerkSession }: Owner,
  nowMs: number,
): Promise<void> {
  const params = (await readWaiting(authorizationRequest))?.params;
  if (!params) return;
  const resources = [params.resource ?? resourceAddresses()[0]].flat().map(String);
  const grantId = await grant(client.clientId, account.subject, resources);
  const endsAtMs = nowMs + lifetimes.session * 1000;
  const session = {
    id: appSessionId(grantId),
    accountId: account.id,
    name: nameSession(client),
    endsAtMs,
    clerkSession,
  };
  await startAppSession(db, session, nowMs);
  await new RegisteredClients().keep(client.clientId, lifetimes.usedClient);
  const isFirst = await settle(authorizationRequest, {
    onRequest: { login: { accountId: account.subject, remember: false }, consent: { grantId } },
    onDevice: {
      accountId: account.subject,
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
  authorizationRequest: AuthorizationRequest,
  client: RequestingClient,
  { account, by }: Owner,
  nowMs: number,
): Promise<void> {
  if (!(await readWaiting(authorizationRequest))) return;
  const after = { name: nameSession(client) };
  await recordAudit(db, { by, what: "app decline", whom: account.email, after }, nowMs);
  const description = "The owner of the account declined.";
  await settle(authorizationRequest, {
    onRequest: { error: "access_denied", error_description: description },
    onDevice: { error: "access_denied", errorDescription: description },
  });
}

/**
 * Codes that may be looked up in ten minutes, from one client address and from all that cannot be told apart. A code is
 * one of 20^8 and lives ten minutes: thirty guesses find a given one once in 850 million times (RFC 8628 §5.1).
 */
const maxLookUps = { ofOne: 30, ofAllUnknown: 3000 };
const windowSeconds = 10 * 60; // 10 minutes

/** Whether whoever asks may look up another device's code. */
export async function consumeLookupLimit(headers: Headers): Promise<boolean> {
  const client = knownClientKey(headers);
  const ofAll = counter("user-codes-of-unknown", maxLookUps.ofAllUnknown, { windowSeconds });
  const of = client ? counter("user-codes", maxLookUps.ofOne, { windowSeconds }) : ofAll;
  return (await of.consume(client ?? "all", performance.now())).allowed;
}

async function readWaiting(authorizationRequest: AuthorizationRequest): Promise<AdapterPayload | undefined> {
  const kept = await read(authorizationRequest);
  return kept && isWaiting(kept) ? kept : undefined;
}

function read(authorizationRequest: AuthorizationRequest): Promise<AdapterPayload | undefined> {
  const { state, by, id } = placeOf(authorizationRequest);
  return state.read(by, id);
}

/** Where what asks is kept until it has its answer. */
function placeOf(authorizationRequest: AuthorizationRequest) {
  return authorizationRequest.by === "request"
    ? ({ state: requests, by: "id_hash", id: authorizationRequest.uid } as const)
    : ({ state: devices, by: "look_up_hash", id: authorizationRequest.code } as const);
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
  authorizationRequest: AuthorizationRequest,
  { onRequest, onDevice }: { onRequest: InteractionResults; onDevice: AdapterPayload },
): Promise<boolean> {
  const { state, by, id } = placeOf(authorizationRequest);
  const kept = await state.read(by, id);
  if (!kept || !isWaiting(kept)) return false;
  return state.amend(by, id, kept, authorizationRequest.by === "request" ? { result: onRequest } : onDevice);
}

/** A code as it was made, however it was typed: letters alone, in upper case. */
function normalize(userCode: string): string {
  return userCode.toUpperCase().replace(/[^A-Z]/g, "");
}
