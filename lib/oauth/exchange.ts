import { type IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type Provider from "oidc-provider";
import type { AdapterPayload, KoaContextWithOIDC } from "oidc-provider";
import type { SessionState } from "@/lib/auth/sessions/session";
import type { Tables } from "@/lib/db/tables";
import type { AppEnd } from "@/lib/oauth/app-session";
import type { Client } from "@/lib/rate-limit/client";

/** A refresh token to store, before it is known which one it replaces. */
export type IssuedToken = Omit<Tables["connect_state"], "parent_hash">;

/** A request to the authorization server while the library answers it. */
export type Exchange = {
  /** The payload of the valid code or token that it carries. */
  readonly credential: AdapterPayload | undefined;
  /** The state of the session that it is of, if that has not ended. */
  readonly session: SessionState | undefined;
  /** The owner's grant that it is of; `undefined` also if that is to be looked up. */
  readonly grant: AdapterPayload | undefined;
  /** Where an authorization request asks its answer to go. */
  readonly redirectUri: string | undefined;
  /** The uid of the app's request that it resumes. */
  readonly uid: string | undefined;
  /** Why a session ends that it ends. */
  readonly endsSessionAs: AppEnd;
  readonly client: Client;
  /** Whether the client's tokens must all be bound to a key (RFC 9449 §5.2). */
  mustBind?: boolean;
  /** The refresh token that the library has issued. */
  issued?: IssuedToken;
  /** The code for the app's request: as the library has made it, and as it is sent. */
  code?: { made: string; sent: string; isOver: boolean };
  /** Why the library failed. */
  failure?: unknown;
  /** Why the library refused an authorization request, a code or a token: its own words. */
  refusal?: string | undefined;
};

type LibraryRequest = Required<Pick<IncomingMessage, "method" | "url" | "headers">> & { body: Buffer };

const exchanges = new WeakMap<IncomingMessage, Exchange>();

/** No connection carries what the library is handed. */
const socket = new Socket();

/** The exchange of a context of the library's. */
export function exchangeOf(ctx: Pick<KoaContextWithOIDC, "req"> | undefined): Exchange | undefined {
  return ctx && exchanges.get(ctx.req);
}

/**
 * Hands a request to the library as far as that reads Node's, and returns what it has made of it. A request of Node's own has a
 * stream, whose reading and end take several turns of the event loop.
 */
export async function askLibrary(
  server: Provider,
  exchange: Exchange,
  { body, ...request }: LibraryRequest,
): Promise<KoaContextWithOIDC> {
  async function* iterator() {
    yield body;
  }
  const incoming = {
    ...request,
    socket,
    readable: true,
    iterator,
  } as Partial<IncomingMessage> as IncomingMessage;
  exchanges.set(incoming, exchange);
  const outgoing = new ServerResponse(incoming);
  outgoing.statusCode = 404;
  const ctx = server.createContext(incoming, outgoing) as KoaContextWithOIDC;
  for (const answer of server.middleware) await answer(ctx, async () => {});
  return ctx;
}
