import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import * as http from "node:http";
import * as https from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { isLoopback } from "@/lib/config/loopback";
import { isPublic } from "@/lib/config/networks";
import { settings } from "@/lib/config/settings";
import { ApiError } from "@/lib/http/errors";
import { toPrintable } from "@/lib/runtime/printable";

/** What a receiver said: its status and the beginning of its words, or why there is none. */
export type Answer = { status: number | null; answer: string; retryAfterMs: number };

/** Whether a status says that an event was accepted. */
export const isSuccess = (status: number | null) => status !== null && status < 300;

const withinMs = 10_000;
const keptCharacters = 500;
const maxBytes = 16 * 1024;
/** Less than any server waits for, and than any network forgets a connection after without a word. */
const idleMs = 4000;
/** Receivers far away need more than Node's quarter of a second before the next address is tried. */
const nextAddressAfterMs = 2500;

/** Parses the address of a receiver. Throws an {@link ApiError}. */
export function parseReceiver(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const refuse = (message: string, hint: string) => new ApiError("invalid_request", { message, hint });
  if (!url || !/^https?:$/.test(url.protocol) || text.length > 1000)
    throw refuse("This is no address of a receiver.", "Give one like https://systems.example.com/webhooks.");
  if (url.protocol === "http:" && !isLoopback(url.hostname))
    throw refuse("The address of a receiver must be https, unless it is on this machine.", "Use https.");
  if (url.username || url.password)
    throw refuse(
      "The address has a name or a password, which lists would show.",
      "Leave them out: the signature says who sends.",
    );
  url.hash = "";
  const address = url.hostname.replace(/^\[(.*)\]$/, "$1");
  if (isIP(address) && !mayReach(address, isLoopback(url.hostname)))
    throw refuse(unreachable(address), settingHint);
  return url;
}

/** One receiver, with connections that stay open between deliveries. */
export class Receiver {
  private readonly agent: http.Agent;

  constructor(private readonly url: URL) {
    const options = {
      keepAlive: true,
      timeout: idleMs,
      maxSockets: 64,
      lookup: checkedLookup(isLoopback(url.hostname)),
      autoSelectFamilyAttemptTimeout: nextAddressAfterMs,
    };
    this.agent = url.protocol === "https:" ? new https.Agent(options) : new http.Agent(options);
  }

  /** Posts JSON. It follows no redirect, waits ten seconds in all, and reads 16 KiB at most. */
  post(headers: Record<string, string>, body: string): Promise<Answer> {
    return this.send(headers, body, AbortSignal.timeout(withinMs));
  }

  private send(headers: Record<string, string>, body: string, signal: AbortSignal): Promise<Answer> {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const { request } = this.url.protocol === "https:" ? https : http;
    const fail = (failure: Error) => {
      const why = signal.aborted ? `no whole answer within ${withinMs / 1000} seconds` : wordsOf(failure);
      resolve({ status: null, answer: shorten(why), retryAfterMs: 0 });
    };
    const address = this.url.hostname.replace(/^\[(.*)\]$/, "$1");
    if (isIP(address) && !mayReach(address, isLoopback(this.url.hostname))) {
      fail(outOfReach(address));
      return promise;
    }
    let isAnswered = false;
    const sent = request(this.url, {
      method: "POST",
      agent: this.agent,
      // Both ways to say an answer's length at once and bare line feeds come from old servers, and mislead only their own events.
      insecureHTTPParser: true,
      signal,
      headers: { "content-type": "application/json", "user-agent": "corner-office", ...headers },
    });
    sent
      .once("response", (response) => {
        isAnswered = true;
        read(response, resolve, fail);
      })
      .once("error", (failure: NodeJS.ErrnoException) => {
        // The receiver closed a connection that was idle, as this was sent on it.
        if (sent.reusedSocket && failure.code === "ECONNRESET") resolve(this.send(headers, body, signal));
        else if (!isAnswered) fail(failure);
      })
      // An answer that changes the protocol is none, and no failure to Node either.
      .once("close", () => isAnswered || fail(new Error("closed without an answer")))
      .end(body);
    return promise;
  }

  close(): void {
    this.agent.destroy();
  }
}

function read(
  response: http.IncomingMessage,
  resolve: (answer: Answer) => void,
  fail: (failure: Error) => void,
) {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const done = () => {
    const { statusCode: status = 0, headers } = response;
    const words = Buffer.concat(chunks).toString("utf8");
    const isRedirect = status >= 300 && status < 400;
    const to = headers.location ? ` to ${headers.location}` : "";
    const answer = isRedirect ? `a redirect${to}, which is not followed: change the address` : words;
    const retryAfterMs = parseRetryAfter(headers["retry-after"], Date.now());
    resolve({ status, answer: shorten(answer), retryAfterMs });
  };
  response.on("data", (chunk: Buffer) => {
    chunks.push(chunk.subarray(0, maxBytes - bytes));
    bytes += chunk.length;
    if (bytes > maxBytes) response.destroy(); // what came counts
  });
  // Whether an event was accepted must be certain; what refuses it need not be whole.
  response.once("close", () => {
    if (response.complete || bytes > maxBytes || !isSuccess(response.statusCode ?? 0)) done();
    else fail(new Error("the answer broke off"));
  });
  response.once("error", () => {}); // "close" follows
}

/** What `Retry-After` asks for, in seconds or as a date (RFC 9110 §10.2.3), in milliseconds; 0 if it cannot be read. */
function parseRetryAfter(field = "", nowMs: number): number {
  const ms = /^\d+$/.test(field) ? Number(field) * 1000 : Date.parse(field) - nowMs;
  return Math.max(0, ms || 0);
}

const settingHint = "Name its network in WEBHOOK_NETWORKS if it is yours.";
const unreachable = (address: string) => `The receiver is at ${address}, which is in no public network.`;
const outOfReach = (address: string) => new Error(`${unreachable(address)} ${settingHint}`);

function mayReach(address: string, isThisMachine: boolean): boolean {
  if (settings().webhookNetworks?.has(address)) return true;
  if (isThisMachine) return isLoopback(address) || isLoopback(`[${address}]`);
  return isPublic(address);
}

/**
 * A lookup that finds only addresses which may be reached, at the time of the connection: names can change. It asks once for all
 * who wait: Node has two threads for every name, which one without an answer would hold for minutes.
 */
function checkedLookup(isThisMachine: boolean): LookupFunction {
  let asked: Promise<LookupAddress[]> | undefined;
  return (name, options, callback) => {
    asked ??= lookup(name, { ...options, all: true }).finally(() => {
      asked = undefined;
    });
    const answer = (found: LookupAddress[]) => {
      const allowed = found.filter(({ address }) => mayReach(address, isThisMachine));
      const [first] = allowed;
      if (!first) callback(outOfReach((found[0] as LookupAddress).address), "");
      else if (options.all) callback(null, allowed);
      else callback(null, first.address, first.family);
    };
    asked.then(answer, (failure) => callback(failure, ""));
  };
}

/** The words of a failure, which has several where several addresses were tried. */
function wordsOf(failure: Error): string {
  const [first = failure]: NodeJS.ErrnoException[] = failure instanceof AggregateError ? failure.errors : [];
  const words = first.message || "no connection";
  // Node's own words go on with how to start it, which helps for no certificate that is missing.
  return ofUnknownIssuer.test(first.code ?? "") ? `${words.replace(/;.*/, "")}: ${certificateHint}` : words;
}

/** How Node says that no authority that it trusts has signed, or that it cannot see which one has. */
const ofUnknownIssuer =
  /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(?:GET|VERIFY)_)/;
const certificateHint =
  "the receiver must send its intermediate certificates as well, and NODE_EXTRA_CA_CERTS must name an authority of your own";

const shorten = (text: string) => toPrintable(text.replace(/\0/g, "")).slice(0, keptCharacters);
