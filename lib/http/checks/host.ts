import { isLoopback } from "@/lib/config/loopback";
import { settings } from "@/lib/config/settings";
import type { Call } from "@/lib/http/call";
import { ApiError } from "@/lib/http/errors";

/** Refuses other names, so that a page that points its own name at this address gets nothing (DNS rebinding). */
export function requireHostOfOffice({ headers, site: { url } }: Call): void {
  const { protocol, host } = new URL(url);
  if (URL.parse(`${protocol}//${headers.get("host")}`)?.host === host) return;
  throw new ApiError("forbidden", {
    status: 421,
    message: `The office is at ${url}.`,
    hint: "Open it there.",
  });
}

/**
 * Refuses a request for another host (403), and one from a remote page to a loopback host (DNS rebinding). Pages of any
 * origin may call the public host, because browsers attach no credential that we accept. A trusted proxy that sends its own
 * name for us, as nginx does unless told otherwise, says the client's in `X-Forwarded-Host`.
 */
export function requireOurHost({ headers }: Call): void {
  const host = hostnameOf(headers.get("host") ?? "");
  const { appUrl, trustedProxyHops } = settings();
  const ours = hostnameOf(appUrl);
  const [forwarded = ""] = headers.get("x-forwarded-host")?.split(",") ?? [];
  if (trustedProxyHops > 0 && !isLoopback(ours) && hostnameOf(forwarded) === ours) return;
  if (host !== ours && !isLoopback(host)) {
    const proxies =
      trustedProxyHops > 0 ? " A proxy before it has to pass Host on, or X-Forwarded-Host." : "";
    throw new ApiError("forbidden", {
      message: "The Host of the request is not this service.",
      hint: `Send the request to ${appUrl}.${proxies}`,
    });
  }
  // Some programs send the whole address that they call, as no browser does (patvice/ruby_llm-mcp#140).
  const origin = headers.get("origin")?.replace(/^(https?:\/\/[^/]+)\/.*$/, "$1");
  if (origin === undefined || !isLoopback(host)) return;
  if (!isLoopback(hostnameOf(origin))) {
    throw new ApiError("forbidden", {
      message: "A page on another origin may not call a loopback address.",
      hint: "Open the page from a loopback address too, or call the service by its public name.",
    });
  }
}

/**
 * The host name in a `Host`, an `Origin` or `APP_URL`, without the dot of one that is written in full. Any other text comes
 * back as it is, and equals no allowed name.
 */
const hostnameOf = (text: string) =>
  text
    .replace(/^https?:\/\//, "")
    .replace(/\.?(:\d*)?$/, "")
    .toLowerCase();
