import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { isLoopback } from "@/lib/config/loopback";
import { settings } from "@/lib/config/settings";
import { escapeHtml } from "@/lib/http/escape-html";
import { plainPage } from "@/lib/http/plain-page";
import { createRequestContext } from "@/lib/http/request-context";
import { type Answer, finalizeResponse } from "@/lib/http/response";
import { pageAt } from "@/lib/http/router";

/**
 * Refuses a browser that opens a page under another host than that of `APP_URL`, where no form would work and no cookie
 * would arrive: 421 (RFC 9110 §15.5.20) with a link to the same page at the right host. `undefined` for other requests.
 */
export function refuseWrongHost(
  { method = "", url = "", headers }: IncomingMessage,
  path: string,
  sent: Headers,
): Answer | undefined {
  const page = pageAt(path);
  if (!page || !["GET", "HEAD"].includes(method) || !headers.accept?.includes("text/html")) return undefined;
  const { appUrl } = settings();
  if (!isForeign(headers, new URL(appUrl))) return undefined;
  const right = `<a href="${escapeHtml(appUrl + url)}">${escapeHtml(new URL(appUrl).host)}</a>`;
  const shown = plainPage("This page has another address", `<p>Open it at ${right} instead.</p>`);
  return finalizeResponse(page, createRequestContext(method, path, sent), { status: 421, ...shown });
}

/**
 * Whether the browser used another host. Proxies that replace `Host` must not make us refuse every page, so a host that
 * may be a proxy's name for us does not count: an address, a name without a dot, or any name behind a proxy that says
 * it is one (`Via`, RFC 9110 §7.6.3). A browser that comes from one of our pages is at the right host.
 */
function isForeign(headers: IncomingMessage["headers"], right: URL): boolean {
  const forwarded = headers["x-forwarded-host"];
  if (isLoopback(right.hostname) || headers.referer?.startsWith(`${right.origin}/`)) return false;
  if (!forwarded && headers.via) return false;
  const host = `http://${forwarded ?? headers.host}`;
  if (!URL.canParse(host)) return false;
  const name = new URL(host).hostname.replace(/\.$/, "");
  return name !== right.hostname && name.includes(".") && !isIP(name) && !isLoopback(name);
}
