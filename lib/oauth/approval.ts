import type { AdapterPayload } from "oidc-provider";
import type { Owner } from "@/lib/accounts/require-owner";
import { findCurrentSession } from "@/lib/auth/sessions/session";
import { inTurn } from "@/lib/auth/sessions/session-changes";
import { describeStart } from "@/lib/auth/sessions/session-name";
import { settings } from "@/lib/config/settings";
import { recordAudit } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import type { Call } from "@/lib/http/call";
import { findDeviceCode } from "@/lib/http/typed-code";
import { OAuthState } from "@/lib/oauth/adapter";
import { approveApp, appSessionId, type NewApp } from "@/lib/oauth/app-session";
import { authorizationServer } from "@/lib/oauth/authorization-server";
import { extendRegisteredClient } from "@/lib/oauth/registered-clients";
import { describeClient, type RequestingClient } from "@/lib/oauth/requesting-client";
import { accountScope } from "@/lib/oauth/resources";
import { seal, unseal } from "@/lib/runtime/seal";
import { hashSecret } from "@/lib/runtime/secret";

const requests = new OAuthState("Interaction");
const devices = new OAuthState("DeviceCode");

const ofApp = (uid: string) => ({ by: "request", state: requests, key: "id_hash", id: uid }) as const;

const ofDevice = (code: string) =>
  ({ by: "user_code", state: devices, key: "look_up_hash", id: code }) as const;

type AuthorizationRequest = ReturnType<typeof ofApp | typeof ofDevice>;

/**
 * Reads an authorization request by its name in a browser's cookie: the request that was started in this browser, or the
 * device code that was typed in it. So an attacker cannot send an owner their own request by a link (RFC 8628 §5.4).
 */
export function readAuthorizationRequest(name: string): AuthorizationRequest | undefined {
  const [, sealed] = /^device\.(.+)$/.exec(name) ?? [];
  if (!sealed) return ofApp(name);
  const code = unseal("connect-device:v1", "", sealed);
  return code === undefined ? undefined : ofDevice(code);
}

/**
 * The name in the cookie of a typed device code, which may have been typed before; `undefined` if no device is waiting with
 * this code.
 *
 * @param known - the names in the cookie
 */
export async function startDeviceApproval(
  typed: string,
  known: readonly string[],
): Promise<string | undefined> {
  const code = findDeviceCode(typed);
  if (!code || !(await readPending(ofDevice(code)))) return undefined;
  const earlier = known.find((name) => readAuthorizationRequest(name)?.id === code);
  return earlier ?? `device.${seal("connect-device:v1", "", code)}`;
}

/**
 * The client of a pending request; `undefined` if the request was answered, has expired or never existed. One whose document
 * was not read, or names another redirect URI, may not be answered.
 */
export async function findRequestingClient(
  authorizationRequest: AuthorizationRequest,
): Promise<(RequestingClient & { isUnread: boolean; mayAnswer: boolean }) | undefined> {
  const stored = await readPending(authorizationRequest);
  if (!stored) return undefined;
  const id = String(stored.params?.client_id);
  const { Client } = await authorizationServer();
  const client = await Client.find(id).catch(unlessUnreadable);
  const isUnread = !client && URL.canParse(id);
  if (!client && !isUnread) return undefined;
  const redirect = stored.params?.redirect_uri;
  const mayAnswer =
    client !== undefined && (typeof redirect !== "string" || client.redirectUriAllowed(redirect));
  return { ...describeClient(client?.metadata() ?? { client_id: id }, stored), isUnread, mayAnswer };
}

function unlessUnreadable(failure: { error?: string }): undefined {
  if (!failure.error?.startsWith("invalid_client")) throw failure;
}

/** How many requests that wait for one owner's answer are kept, however many others there are. */
const maxSeen = 20;

/**
 * Keeps a pending request that its owner has seen: later requests of others do not evict it. It gets a hash of the account
 * in the place of its grant.
 */
export async function keepSeenRequest(
  db: Db,
  { state, key, id }: AuthorizationRequest,
  accountId: string,
): Promise<void> {
  const seenBy = `seen by ${hashSecret("connect", accountId)}`;
  await db
    .updateTable("connect_state")
    .set({ grant_id: seenBy })
    .where("kind", "=", state.kind)
    .where(key, "=", hashSecret("connect", id))
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

/**
 * How a request was answered; `undefined` if it was not. The first answer counts: after a double click, and also if that
 * was another account's (`taken`).
 *
 * @param subject - of the account that asks; without one, any
 */
export async function findOutcome(
  request: AuthorizationRequest,
  subject?: string,
): Promise<"approved" | "declined" | "taken" | undefined> {
  const stored = await request.state.read(request.key, request.id);
  if (!stored || isPending(stored)) return undefined;
  const approver = stored.accountId ?? stored.result?.login?.accountId;
  if (!approver) return "declined";
  return subject === undefined || approver === subject ? "approved" : "taken";
}

/**
 * Approves a pending request for this account, if no one was faster. Its session starts with what it is sent: the code of
 * an app in a browser, the first tokens of a device.
 *
 * @param call - from the browser in which the owner approves
 * @returns whether the owner is still signed in there
 */
export async function approve(
  db: Db,
  authorizationRequest: AuthorizationRequest,
  client: RequestingClient,
  { account, session, clerkSession }: Owner,
  call: Pick<Call, "headers" | "client" | "nowMs">,
): Promise<boolean> {
  const { nowMs } = call;
  const { by, state, key, id } = authorizationRequest;
  const stored = await readPending(authorizationRequest);
  if (!stored) return true;
  const resources = [stored.params?.resource ?? settings().appUrl].flat().map(String);
  const accountId = account.subject;
  const grant = new (await authorizationServer()).Grant({ clientId: client.clientId, accountId });
  for (const resource of resources) grant.addResourceScope(resource, accountScope);
  const grantId = await grant.save();
  const app: NewApp = {
    id: appSessionId(grantId),
    account_id: account.id,
    name: client.session.name,
    app_origin: client.session.origin,
    ...describeStart(call),
    clerk_session: clerkSession ?? null,
  };
  // The authorization server passes the answer to an app when the browser returns, and to a device at its next poll.
  const answer =
    by === "request"
      ? { result: { login: { accountId, remember: false }, consent: { grantId } } }
      : {
          accountId,
          grantId,
          scope: accountScope,
          resource: resources.length === 1 ? resources[0] : resources,
          authTime: Math.floor(nowMs / 1000),
        };
  const outcome = await inTurn(db, account.id, async (transaction, email) => {
    // The session may have ended, or the account be gone, since the caller read it.
    const isCurrent = !session || (await findCurrentSession(transaction, session.sessionId, nowMs));
    if (email === undefined || !isCurrent) return "signed out";
    if (!(await state.amend(transaction, key, id, stored, answer))) return "late";
    await approveApp(transaction, app, email, nowMs);
    await extendRegisteredClient(transaction, client.clientId, nowMs);
    return "approved";
  });
  if (outcome !== "approved") await new OAuthState("Grant").destroy(grantId);
  return outcome !== "signed out";
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
  const { state, key, id } = authorizationRequest;
  const stored = await readPending(authorizationRequest);
  if (!stored) return;
  const declined = { by, what: "app decline", whom: account.email, after: client.session };
  await recordAudit(db, declined, nowMs);
  const [error, description] = ["access_denied", "The owner of the account declined."];
  await state.amend(
    db,
    key,
    id,
    stored,
    authorizationRequest.by === "request"
      ? { result: { error, error_description: description } }
      : { error, errorDescription: description },
  );
}

/** A request that waits for its owner; `undefined` if it was answered, has expired or never existed. */
export async function readPending(request: AuthorizationRequest): Promise<AdapterPayload | undefined> {
  const stored = await request.state.read(request.key, request.id);
  return stored && isPending(stored) ? stored : undefined;
}

/** Whether a request, of an app or a device, waits for its owner. */
export function isPending({ result, accountId, error }: AdapterPayload): boolean {
  return !result && !accountId && !error;
}

/** Formats a device code as the device shows it: in two groups of four letters. */
export function formatUserCode(code: string): string {
  return code.replace(/(.{4})(?=.)/g, "$1-");
}
