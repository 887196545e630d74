import { store } from "@/lib/db/store";
import { pages } from "@/lib/http/pages";
import { nativeClient } from "@/lib/oauth/clients";
import { findClient } from "@/lib/oauth/operator-clients";
import { seal, unseal } from "@/lib/runtime/seal";

/*
 * Whoever registers a client chooses where its errors go, and a request that is wrong on purpose would make us send
 * anybody's browser there (RFC 9700 §4.11.2). So a client that has registered itself is told by a link that a person
 * follows, on a page of ours.
 */

/**
 * Whether an error may go to a client at once: it goes to the person's own computer, the operator has added the client,
 * or a host that the operator lists vouches for it.
 */
export async function mayBeToldAtOnce(clientIds: string[]): Promise<boolean> {
  const [id = "", another] = clientIds;
  if (another !== undefined) return false;
  return (
    id === nativeClient.client_id || URL.canParse(id) || (await findClient(await store(), id)) !== undefined
  );
}

/** The page of ours that says that a request was refused, and leads on to where its client would be told. */
export function refusalPage(to: string): string {
  return `${pages.connect.path}?refused=${seal("connect-refusal:v1", "", to)}`;
}

/** Where that page leads; `undefined` when we have not said so. */
export function readRefusal(sealed: string | undefined): URL | undefined {
  const to = sealed && unseal("connect-refusal:v1", "", sealed);
  return to ? new URL(to) : undefined;
}
