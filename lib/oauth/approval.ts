import type { AdapterPayload, InteractionResults } from "oidc-provider";
import type { Owner } from "@/lib/accounts/owner";
import { endSession } from "@/lib/auth/session-changes";
import { describeStart } from "@/lib/auth/session-name";
import { recordAudit } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import { readCookie } from "@/lib/http/cookies";
import { pages } from "@/lib/http/pages";
import { deriveMailId } from "@/lib/mail/mail";
import { OAuthState } from "@/lib/oauth/adapter";
import { appSessionId, startAppSession } from "@/lib/oauth/app-session";
import { authorizationServer } from "@/lib/oauth/authorization-server";
import { hash } from "@/lib/oauth/id-hash";
import { extendRegisteredClient } from "@/lib/oauth/registered-clients";
import {
  describeClient,
  describeOrigin,
  nameSession,
  type RequestingClient,
} from "@/lib/oauth/requesting-client";
import { accountScope, resourceAddresses } from "@/lib/oauth/resources";
import { seal, unseal } from "@/lib/runtime/seal";

/** A request that waits for approval: by an app in this browser, or by a device whose code was typed in it. */
export type AuthorizationRequest = { by: "request"; uid: string } | { by: "user_code"; code: string };

const requests = new OAuthState("Interaction");
const devices = new OAuthState("DeviceCode");

/**
 * Reads the authorization request from a browser's cookie: the request that was started in this browser, or the device
 * code that was typed in it. So an attacker cannot send an owner their own request by a link (RFC 8628 §5.4).
 */
export function readAuthorizationRequest(cookie: string | undefined): AuthorizationRequest | undefined {
  if (!cookie) return undefined;
  const [, sealed] = /^device\.(.+)$/.exec(cookie) ?? [];
  if (!sealed) return { by: "request", uid: cookie };
  const code = unseal("connect-device:v1", "", sealed);
  return code === undefined ? undefined : { by: "user_code", code };
}

/** The cookie value for a typed device code; `undefined` if no device is waiting with this code. */
export async function startDeviceApproval(typed: string): Promise<string | undefined> {
  const code = normalize(typed);
  const isShown = (await readPending({ by: "user_code", code })) !== undefined;
  return isShown ? `device.${seal("connect-device:v1", "", code)}` : undefined;
}

/** The page to continue with after sign-in: the approval if a request waits for it in this browser, else home or another. */
export async function pathAfterSignIn(
  headers: Pick<Headers, "get">,
  otherwise: string = pages.home.path,
): Promise<string> {
  const authorizationRequest = readAuthorizationRequest(readCookie(headers, "office-request"));
  // If that cannot be read, home still links to the request.
  const pending = authorizationRequest && (await readPending(authorizationRequest).catch(() => undefined));
  return pending ? pages.connect.path : otherwise;
}

/** The client of a pending request; `undefined` if the request was answered, has expired or never existed. */
export async function findRequestingClient(
  authorizationRequest: AuthorizationRequest,
): Promise<RequestingClient | undefined> {
  const stored = await readPending(authorizationRequest);
  const client =
    stored && (await (await authorizationServer()).Client.find(String(stored.params?.client_id)));
  return client && describeClient(client.metadata(), stored);
}

/** How many requests that wait for one owner's answer are kept, however many others there are. */
const maxSeen = 20;

/**
 * Keeps a pending request that its owner has seen: later requests of others do not evict it. It gets a hash of the account
 * in the place of its grant.
 */
export async function keepSeenRequest(
  db: Db,
  authorizationRequest: AuthorizationRequest,
  accountId: string,
): Promise<void> {
  const { state, by, id } = storageOf(authorizationRequest);
  const seenBy = `seen by ${hash(accountId)}`;
  await db
    .updateTable("connect_state")
    .set({ grant_id: seenBy })
    .where("kind", "=", state.kind)
    .where(by, "=", hash(id))
    .where("grant_id", "is", null)
    .where((eb) => {
      const seen = eb.selectFrom("connect_state").where("grant_id", "=", seenBy);
      return eb(
        seen.select(({ fn }) => fn.countAll().as("seen")),
        "<",
        maxSeen,
      );
    })
    .execute();
}

/** How a request was answered; `undefined` if it was not. After a double click, the first answer counts. */
export async function findOutcome(
  authorizationRequest: AuthorizationRequest,
): Promise<"approved" | "declined" | undefined> {
  const stored = await read(authorizationRequest);
  if (!stored || isPending(stored)) return undefined;
  return stored.error || stored.result?.error ? "declined" : "approved";
}

/**
 * Approves a pending request for this account: starts the app's session, and the app can get its tokens.
 *
 * @param headers - those of the browser in which the owner approves
 */
export async function approve(
  db: Db,
  authorizationRequest: AuthorizationRequest,
  client: RequestingClient,
  { account, clerkSession }: Owner,
  headers: Headers,
  nowMs: number,
): Promise<void> {
  const params = (await readPending(authorizationRequest))?.params;
  if (!params) return;
  const resources = [params.resource ?? resourceAddresses()[0]].flat().map(String);
  const grantId = await grant(client.clientId, account.subject, resources);
  const session = {
    id: appSessionId(grantId),
    accountId: account.id,
    name: nameSession(client),
    origin: describeOrigin(client.origin),
    startedIn: describeStart(headers),
    clerkSession,
    mailId: deriveMailId(`new-app:v1:${storageOf(authorizationRequest).id}`),
  };
  await startAppSession(db, session, nowMs);
  await extendRegisteredClient(db, client.clientId, nowMs);
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
 * Declines a pending request, and reports that to the app. The audit entry is written first, so it exists even if the
 * report fails.
 */
export async function decline(
  db: Db,
  authorizationRequest: AuthorizationRequest,
  client: RequestingClient,
  { account, by }: Owner,
  nowMs: number,
): Promise<void> {
  if (!(await readPending(authorizationRequest))) return;
  const after = { name: nameSession(client), origin: describeOrigin(client.origin) };
  await recordAudit(db, { by, what: "app decline", whom: account.email, after }, nowMs);
  const description = "The owner of the account declined.";
  await settle(authorizationRequest, {
    onRequest: { error: "access_denied", error_description: description },
    onDevice: { error: "access_denied", errorDescription: description },
  });
}

async function readPending(authorizationRequest: AuthorizationRequest): Promise<AdapterPayload | undefined> {
  const stored = await read(authorizationRequest);
  return stored && isPending(stored) ? stored : undefined;
}

function read(authorizationRequest: AuthorizationRequest): Promise<AdapterPayload | undefined> {
  const { state, by, id } = storageOf(authorizationRequest);
  return state.read(by, id);
}

/** Where a request is stored until it is answered. */
function storageOf(authorizationRequest: AuthorizationRequest) {
  return authorizationRequest.by === "request"
    ? ({ state: requests, by: "id_hash", id: authorizationRequest.uid } as const)
    : ({ state: devices, by: "look_up_hash", id: authorizationRequest.code } as const);
}

function isPending({ result, accountId, error }: AdapterPayload): boolean {
  return !result && !accountId && !error;
}

async function grant(clientId: string, accountId: string, resources: string[]): Promise<string> {
  const { Grant } = await authorizationServer();
  const made = new Grant({ clientId, accountId });
  for (const resource of resources) made.addResourceScope(resource, accountScope);
  return made.save();
}

/**
 * Stores the owner's answer. The authorization server passes it to an app when the browser returns, and to a device at
 * its next poll. Returns false if the request was answered in the meantime.
 */
async function settle(
  authorizationRequest: AuthorizationRequest,
  { onRequest, onDevice }: { onRequest: InteractionResults; onDevice: AdapterPayload },
): Promise<boolean> {
  const { state, by, id } = storageOf(authorizationRequest);
  const stored = await state.read(by, id);
  if (!stored || !isPending(stored)) return false;
  return state.amend(
    by,
    id,
    stored,
    authorizationRequest.by === "request" ? { result: onRequest } : onDevice,
  );
}

/** Formats a device code as the device shows it: in two groups of four letters. */
export function formatUserCode(code: string): string {
  return code.replace(/(.{4})(?=.)/g, "$1-");
}

/** Normalizes a typed code: letters only, in upper case. */
function normalize(userCode: string): string {
  return userCode.toUpperCase().replace(/[^A-Z]/g, "");
}
