import { settings } from "@/lib/config/settings";
import { store } from "@/lib/db/store";
import { withProblem } from "@/lib/http/form";
import { pages } from "@/lib/http/register/pages";
import { nativeClient } from "@/lib/oauth/clients";
import { findClient } from "@/lib/oauth/operator-clients";
import { isUnlistedDocument } from "@/lib/oauth/registered-clients";
import { seal, unseal } from "@/lib/runtime/seal";

/** Why an authorization request is refused on our page, and not by a redirect to its app. */
export type Fault = keyof typeof faults;

/** @property reason - the details, for the log */
export type Refusal = { fault: Fault; reason: string };

/** Each fault, for the log and for programs. */
export const faults = {
  unlisted: "the app's metadata document is not in CONNECT_CLIENTS",
  unreadable: "the app's metadata document could not be fetched or used",
  unknown: "the app never registered, or its registration has expired",
  app: "the app's request is not valid",
  over: "the app's request was answered or has expired",
};

/** The fault of a client that the authorization server could not find. */
export function findFault(clientId: string): Exclude<Fault, "over"> {
  if (!/^https?:/i.test(clientId)) return "unknown";
  if (settings().connectClients.includes(clientId)) return "unreadable";
  return isUnlistedDocument(clientId) ? "app" : "unlisted";
}

/** The URL of our page about a fault. It names the host of the app's metadata document, if that is the fault. */
export function faultUrl(fault: Fault, clientId: string): string {
  const page = withProblem(pages.connect.path, fault);
  const hasHost = (fault === "unlisted" || fault === "unreadable") && URL.canParse(clientId);
  return hasHost ? `${page}&host=${seal("connect-fault:v1", "", new URL(clientId).host)}` : page;
}

/** The host in the URL of our page; `undefined` if we did not seal it. */
export function readFaultHost(sealed: string | undefined): string | undefined {
  return sealed && unseal("connect-fault:v1", "", sealed);
}

/*
 * A registered client chooses where its errors go. With a request that is invalid on purpose, an attacker could use us
 * as an open redirector (RFC 9700 §4.11.2). So errors of clients that registered themselves are not redirected: one of
 * our pages shows a link that the person can follow.
 */

/**
 * Whether an error may be redirected to a client: it goes to the person's own computer, the operator has added the
 * client, or the operator has listed its metadata document.
 */
export async function mayRedirectError(clientIds: string[]): Promise<boolean> {
  const [id = "", another] = clientIds;
  if (another !== undefined) return false;
  const isListed = id === nativeClient.client_id || settings().connectClients.includes(id);
  return isListed || (await findClient(await store(), id)) !== undefined;
}

/** The URL of our page that shows that a request was refused and why, with a link to the client's redirect URI. */
export function refusalUrl(to: string, reason: string): string {
  return `${pages.connect.path}?refused=${seal("connect-refusal:v1", "", `${to}\n${reason}`)}`;
}

/** The URL that the page links to, and the reason; `undefined` if the parameter was not sealed by us. */
export function readRefusal(sealed: string | undefined): { to: URL; reason: string | undefined } | undefined {
  const [to, reason] = (sealed && unseal("connect-refusal:v1", "", sealed))?.split("\n") ?? [];
  return to ? { to: new URL(to), reason } : undefined;
}
