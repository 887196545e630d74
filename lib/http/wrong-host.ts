import { isIP } from "node:net";
import { isLoopback } from "@/lib/config/loopback";
import type { Call, SentHeaders } from "@/lib/http/call";
import { escapeHtml } from "@/lib/http/escape-html";
import { plainPage } from "@/lib/http/plain-page";
import { isPage } from "@/lib/http/register/pages";
import { type Answer, finalizeResponse } from "@/lib/http/response";
import type { Route } from "@/lib/http/route";

/**
 * Refuses a browser that opens a page under another host than that of `APP_URL`, where no form would work and no cookie
 * would arrive: 421 (RFC 9110 §15.5.20) with a link to the same page at the right host. `undefined` for other requests.
 */
export function refuseWrongHost(call: Call, route: Route): Answer | undefined {
  const { method, target, headers, site } = call;
  // A platform shows previews under hosts of its own.
  if (call.peer === undefined || !isPage(route)) return undefined;
  if (!["GET", "HEAD"].includes(method) || !headers.get("accept")?.includes("text/html")) return undefined;
  if (!isForeign(headers, new URL(site.url))) return undefined;
  const right = `<a href="${escapeHtml(site.url + target)}">${escapeHtml(new URL(site.url).host)}</a>`;
  const shown = plainPage("This page has another address", `<p>Open it at ${right} instead.</p>`);
  return finalizeResponse(call, route, { status: 421, ...shown });
}

/**
 * Whether the browser used another host. Proxies that replace `Host` must not make us refuse every page, so a host that
 * may be a proxy's name for us does not count: an address, a name without a dot, or any name behind a proxy that says
 * it is one (`Via`, RFC 9110 §7.6.3). A browser that comes from one of our pages is at the right host.
 */
function isForeign(headers: SentHeaders, right: URL): boolean {
  const forwarded = headers.get("x-forwarded-host");
  if (isLoopback(right.hostname) || headers.get("referer")?.startsWith(`${right.origin}/`)) return false;
  if (!forwarded && headers.get("via")) return false;
  const host = `http://${forwarded ?? headers.get("host")}`;
  if (!URL.canParse(host)) return false;
  const name = new URL(host).hostname.replace(/\.$/, "");
  return name !== right.hostname && name.includes(".") && !isIP(name) && !isLoopback(name);
}
