import { isLoopback } from "@/lib/config/loopback";
import { settings } from "@/lib/config/settings";
import { ApiError } from "@/lib/http/errors";
import { LruCache } from "@/lib/runtime/lru-cache";

/**
 * Refuses a request sent to another host than ours (403), and one that a page from elsewhere sent to a loopback
 * host: a browser on the same machine must not be talked into it (DNS rebinding). Any origin may
 * call us by our public name, since no request carries a credential by itself.
 */
export function requireOurHost(headers: Headers): void {
  const host = hostnameOf(`http://${headers.get("host")}`);
  const { appUrl } = settings();
  if (host === undefined || (host !== hostnameOf(appUrl) && !isLoopback(host))) {
    throw new ApiError("forbidden", {
      message: "The Host of the request is not this service's.",
      hint: `Send it to ${appUrl}.`,
    });
  }
  const origin = headers.get("origin");
  if (origin === null || !isLoopback(host)) return;
  const sender = hostnameOf(origin);
  if (sender === undefined || !isLoopback(sender)) {
    throw new ApiError("forbidden", {
      message: "A page on another origin may not call a loopback address.",
      hint: "Open the page from a loopback address as well, or call the service by its public name.",
    });
  }
}

// Clients name one of a few hosts; what is read of them is remembered.
const remembered = new LruCache<string>(100);

function hostnameOf(url: string): string | undefined {
  const known = remembered.get(url);
  if (known !== undefined || !URL.canParse(url)) return known;
  const { hostname } = new URL(url);
  remembered.set(url, hostname);
  return hostname;
}
