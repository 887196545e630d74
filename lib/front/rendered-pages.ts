import type { IncomingMessage, ServerResponse } from "node:http";
import { readBody } from "@/lib/api/body";
import { clientAddress, ownClientKey } from "@/lib/api/client-address";
import { placeAt } from "@/lib/api/door";
import { ApiError, tooManyRequests } from "@/lib/api/errors";
import { type Answer, refusal, toResponse } from "@/lib/api/headers";
import { pages } from "@/lib/api/pages";
import { ProcessCounter } from "@/lib/api/process-counter";
import { overQuota } from "@/lib/api/rate-limit";
import { leaveUnread, send, toHeaders, toRequest } from "@/lib/front/exchange";
import type { JoinedMessage } from "@/lib/front/joined-message";
import { KeptFiles } from "@/lib/front/kept-files";
import { KeptPages } from "@/lib/front/kept-pages";
import type { Asked, PagesProcess } from "@/lib/front/pages-process";
import { Turns } from "@/lib/front/turns";
import { boundHeaders, boundQuery } from "@/lib/pages/handed-on";
import { headersAt } from "@/lib/pages/page-headers";
import { log } from "@/lib/process/log";
import { bodyLimits, renderAllowance, renderTurns } from "@/lib/settings/limits";
import { settings } from "@/lib/settings/settings";

/**
 * Answers what is the same for everyone from memory, and all else as the process of the pages renders it, for each
 * client within its allowance and in its turn. Where a page cannot be had, it says so in words: 429 or 503, with
 * `Retry-After`.
 */
export function showPages(process: PagesProcess) {
  const { requests, windowSeconds } = renderAllowance;
  const counter = new ProcessCounter(requests, windowSeconds * 1000);
  const turns = new Turns(renderTurns);
  const keptFiles = new KeptFiles();
  const keptPages = new KeptPages((path, cookie) =>
    process.render({ method: "GET", url: path }, { ...ourOwn(), ...(cookie && { cookie }) }),
  );

  function spend(client: string): void {
    const { allowed, retryAfterSeconds } = counter.spend(client, performance.now());
    if (allowed) return;
    throw tooManyRequests({
      message: overQuota(requests, windowSeconds, retryAfterSeconds),
      retryAfterSeconds,
    });
  }

  return async (incoming: JoinedMessage, outgoing: ServerResponse): Promise<void> => {
    let gone: AbortSignal | undefined;
    try {
      leaveUnread(incoming, outgoing);
      const [path = "", query = ""] = incoming.url?.split("?", 2) ?? [];
      const headers = toHeaders(incoming);
      const kept = keptFiles.find(path, query) ?? (await keptPages.find(path, headers));
      if (kept) {
        if (!placeAt(path)) outgoing.setHeader("x-request-id", requestIdOf(incoming));
        return await kept.send(incoming, outgoing);
      }
      const client = ownClientKey(headers);
      if (client) spend(client);
      gone = closeOf(outgoing);
      const asked = await toAsked(incoming, outgoing);
      const page = await turns.take(client, gone, () => process.render(asked, handOn(incoming)));
      outgoing.writeHead(page.status, page.headers).end(page.content);
    } catch (thrown) {
      if (gone?.aborted) return;
      const error = thrown instanceof ApiError ? thrown : away(thrown);
      const stamp = ["cache-control", "no-store", "x-request-id", requestIdOf(incoming)];
      stamp.push(...headersAt(pages.nothingHere.path, ""));
      await send(toResponse(incoming.method ?? "", inWords(error, incoming), stamp), incoming, outgoing);
    }
  };
}

/** Aborts when nobody waits for the answer any more. */
function closeOf(outgoing: ServerResponse): AbortSignal {
  const gone = new AbortController();
  outgoing.once("close", () => gone.abort());
  return gone.signal;
}

/** What is to be rendered. A POST is Clerk's component's, on a page of its own: the door lets in no other. */
async function toAsked(incoming: JoinedMessage, outgoing: ServerResponse): Promise<Asked> {
  const { method, url: target = "" } = incoming;
  const url = boundQuery(target);
  if (method !== "POST") return { method, url };
  const request = toRequest(incoming, settings().appUrl + url, outgoing);
  return { method, url, body: await readBody(request, bodyLimits.form) };
}

/** The id of the visit, as the front server has written it down. */
function requestIdOf({ headers }: IncomingMessage): string {
  return String(headers["x-request-id"]);
}

/** All that is not in the list ends here, the names that Next believes in among it. */
function handOn({ method, headers }: IncomingMessage): Record<string, string> {
  const sent = boundHeaders(method, (name) => {
    const value = headers[name];
    return typeof value === "string" ? value : undefined;
  });
  const address = clientAddress(toHeaders({ headers } as IncomingMessage));
  return { ...Object.fromEntries(sent), ...ourOwn(), ...(address && { "x-forwarded-for": address }) };
}

/** Who we are: never what a request says. */
function ourOwn(): Record<string, string> {
  const { host, protocol } = new URL(settings().appUrl);
  return { host, "x-forwarded-host": host, "x-forwarded-proto": protocol.slice(0, -1) };
}

const retryAfterSeconds = 5;

function away(cause: unknown): ApiError {
  log().warn({ err: cause }, "a page cannot be shown");
  return new ApiError("unavailable", {
    message: "This page cannot be shown at the moment.",
    headers: { "retry-after": String(retryAfterSeconds) },
  });
}

/** A refusal for whoever asks: a page for a person, which looks again by itself, our one shape of errors for a program. */
function inWords(error: ApiError, { headers }: IncomingMessage): Answer {
  const answer = refusal(error);
  if (!headers.accept?.includes("text/html")) return answer;
  const seconds = error.headers["retry-after"];
  const body = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="${seconds}">
<title>One moment, please</title>
<h1>One moment, please</h1>
<p>${error.message}</p>
<p>Nothing is lost. This page looks again by itself in ${seconds} seconds.</p>
</html>
`;
  return { ...answer, body, mediaType: "text/html; charset=utf-8" };
}
