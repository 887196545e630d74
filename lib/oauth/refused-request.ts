import { store } from "@/lib/db/store";
import { pages } from "@/lib/http/pages";
import { nativeClient } from "@/lib/oauth/clients";
import { findClient } from "@/lib/oauth/operator-clients";
import { seal, unseal } from "@/lib/runtime/seal";

/*
 * A registered client chooses where its errors go. With a request that is invalid on purpose, an attacker could use us
 * as an open redirector (RFC 9700 §4.11.2). So errors of clients that registered themselves are not redirected: one of
 * our pages shows a link that the person can follow.
 */

/**
 * Whether an error may be redirected to a client: it goes to the person's own computer, the operator has added the
 * client, or its metadata document is at a host that the operator has listed.
 */
export async function mayRedirectError(clientIds: string[]): Promise<boolean> {
  const [id = "", another] = clientIds;
  if (another !== undefined) return false;
  return (
    id === nativeClient.client_id || URL.canParse(id) || (await findClient(await store(), id)) !== undefined
  );
}

/** The URL of our page that shows that a request was refused, with a link to the client's redirect URI. */
export function refusalUrl(to: string): string {
  return `${pages.connect.path}?refused=${seal("connect-refusal:v1", "", to)}`;
}

/** The URL that the page links to; `undefined` if the parameter was not sealed by us. */
export function readRefusal(sealed: string | undefined): URL | undefined {
  const to = sealed && unseal("connect-refusal:v1", "", sealed);
  return to ? new URL(to) : undefined;
}
