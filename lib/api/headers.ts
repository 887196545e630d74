import type { ApiError } from "@/lib/api/errors";
import type { Address } from "@/lib/api/operations";
import { pages } from "@/lib/api/pages";
import { retirementHeaders, retirementOf } from "@/lib/api/retirement";
import { completeStandIn, type StandIn } from "@/lib/api/stand-in";
import { logVisit, type Visit } from "@/lib/api/visit";
import { oncePerProcess } from "@/lib/once-per-process";
import { settings } from "@/lib/settings/settings";

/** Names and values in turn, as Node takes them: an object with as many computed keys takes 40 times as long. */
export type HeaderList = readonly string[];

/** What a room or a refusal has to say, before the way out makes a Response of it. */
export type Answer = {
  status: number;
  /** An object goes out as JSON, a string as plain text, `null` as no content. */
  body: object | string | null;
  /** The media type of a string that is not plain text. */
  mediaType?: string;
  headers?: HeaderList;
};

/**
 * The way out: makes the Response of an answer, stamps it and logs the visit. Every answer under `/api` and
 * `/mcp` leaves here.
 *
 * @param address - the address it belongs to; none for a 404
 */
export function leave(address: Address | undefined, visit: Visit, answer: Answer): Response {
  const caching = answer.status === 200 && address ? address.caching : "no-store";
  const stamp = [...stampOf(address), "cache-control", caching, ...nameRequest(visit, caching)];
  logVisit(visit, answer.status);
  return toResponse(visit.method, answer, stamp);
}

/** The request's id, but on what shared caches keep: who sent it is nobody else's business. */
export function nameRequest({ requestId }: Visit, caching: string): HeaderList {
  return caching.startsWith("public") ? [] : ["x-request-id", requestId];
}

/** The Response of an answer. HEAD gets its headers alone (RFC 9110 §9.3.2). */
export function toResponse(
  method: string,
  { status, body, mediaType, headers = [] }: Answer,
  stamp: HeaderList,
): Response {
  let content: string | null = null;
  let ofContent: HeaderList = [];
  if (body !== null) {
    const written = typeof body === "string" ? measure(body, "text/plain; charset=utf-8") : toJson(body);
    content = written.content;
    ofContent = ["content-type", mediaType ?? written.mediaType, "content-length", written.length];
  } else if (status !== 204 && status !== 304) {
    ofContent = ["content-length", "0"];
  }
  const fields = [...stamp, ...headers, ...ofContent];
  return new ReadyResponse(status, fields, method === "HEAD" ? null : content) as unknown as Response;
}

const measure = (content: string, mediaType: string) => ({
  content,
  mediaType,
  length: String(Buffer.byteLength(content)),
});

const jsonOfConstants = new WeakMap<object, ReturnType<typeof measure>>();

/** An object as JSON; one that is frozen is written once. */
function toJson(body: object) {
  const known = jsonOfConstants.get(body);
  if (known) return known;
  const written = measure(JSON.stringify(body), "application/json");
  if (Object.isFrozen(body)) jsonOfConstants.set(body, written);
  return written;
}

/** The answer to a refusal: its status, body and headers, and those gathered before it was thrown. */
export function refusal(error: ApiError, gathered: HeaderList = []): Answer {
  return {
    status: error.status,
    body: error.toJSON(),
    headers: [...gathered, ...Object.entries(error.headers).flat()],
  };
}

/** A Response whose parts are at hand: the front server sends them as they are, a platform reads a Response. */
export class ReadyResponse implements StandIn<Response> {
  readonly #status: number;
  readonly #fields: HeaderList;
  readonly #content: string | null;
  #made: Response | undefined;

  constructor(status: number, fields: HeaderList, content: string | null) {
    this.#status = status;
    this.#fields = fields;
    this.#content = content;
  }

  get status(): number {
    return this.#status;
  }

  /** All there is to send; `undefined` once the real one was asked for, which may have been changed or read. */
  get parts(): { fields: HeaderList; content: string | null } | undefined {
    return this.#made ? undefined : { fields: this.#fields, content: this.#content };
  }

  get real(): Response {
    if (!this.#made) {
      const headers = new Headers();
      for (let at = 0; at < this.#fields.length; at += 2) {
        headers.append(this.#fields[at] ?? "", this.#fields[at + 1] ?? "");
      }
      this.#made = new Response(this.#content, { status: this.#status, headers });
    }
    return this.#made;
  }
}
completeStandIn(ReadyResponse, Response);

const stamps = () => oncePerProcess("stamps", () => new Map<Address | undefined, HeaderList>());

/** The headers that do not vary between the answers of an address, made once. */
function stampOf(address: Address | undefined): HeaderList {
  const known = stamps().get(address);
  if (known) return known;
  const { appUrl, hsts } = settings();
  const { anyOrigin, caching } = address ?? {};
  const retirement = address && retirementOf(address);
  const links = [`<${appUrl}${pages.policy.path}>; rel="deprecation"; type="text/html"`];
  const stamp = [
    "api-version",
    "1",
    "x-content-type-options",
    "nosniff",
    "referrer-policy",
    "no-referrer",
    "content-security-policy",
    "default-src 'none'; frame-ancestors 'none'",
  ];
  if (hsts) stamp.push("strict-transport-security", hsts);
  if (anyOrigin) {
    stamp.push("access-control-allow-origin", "*", "access-control-expose-headers", anyOrigin.reads);
  }
  if (caching?.startsWith("public")) stamp.push("vary", "API-Version");
  if (retirement) {
    const { deprecation, sunset, guideLink } = retirementHeaders(retirement, appUrl);
    stamp.push("deprecation", deprecation, "sunset", sunset);
    links.push(guideLink);
  }
  stamp.push("link", links.join(", "));
  stamps().set(address, stamp);
  return stamp;
}
