import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { Call } from "@/lib/http/call";
import { type Answering, toResponse } from "@/lib/http/response";
import type { Method } from "@/lib/http/route";
import { decide, publicSite } from "@/lib/http/router";
import { isFrontServer } from "@/lib/rate-limit/client-address";

/** What a module of a route exports for its methods: a platform calls it, and our own server its handler. */
export interface PlatformHandler<A extends Answering> {
  (request: Request): Promise<Response>;
  answer: A;
}

/** Makes of what answers a request what a platform calls, for each method. */
export function toPlatform<A extends Answering>(answer: A): Record<Method, PlatformHandler<A>> {
  const respond = async (request: Request) => {
    const call = callOf(request);
    return toResponse((await decide(call)) ?? (await answer(call)));
  };
  const handler = Object.assign(respond, { answer });
  return { GET: handler, HEAD: handler, POST: handler, OPTIONS: handler };
}

/** A platform's request on its way. */
export function callOf(request: Request): Call {
  const { method, headers, signal } = request;
  const { pathname, search } = new URL(request.url);
  // In development our server hands its requests to Next in this process, and says in this field whose they are.
  const peer = isFrontServer() ? headers.get("x-forwarded-for")?.split(",").at(-1) : undefined;
  const openBody = () => {
    const { body } = request;
    // Nothing is read ahead of what is asked for.
    return body ? Readable.fromWeb(body as ReadableStream, { highWaterMark: 0 }) : undefined;
  };
  return new Call({ method, target: pathname + search, headers, peer, signal, openBody }, publicSite);
}
