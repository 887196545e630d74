import type { IncomingMessage } from "node:http";
import { headBounds, headBoundsInWords } from "@/lib/config/limits";
import { ApiError } from "@/lib/http/errors";

/** A host and an optional port, the value of Host (RFC 9110 §7.2). */
const hostAndPort = /^(?:\[[\da-z:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i;

/** Refuses a head that is too large, lacks exactly one valid Host (RFC 9112 §3.2) or has a target without a path. */
export function refuseHead(incoming: IncomingMessage, path: string): ApiError | undefined {
  const { rawHeaders, httpVersion, method = "", url = "" } = incoming;
  let bytes = method.length + url.length + " HTTP/1.1\r\n".length + 1 + "\r\n".length;
  let hosts = 0;
  let host = "";
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    bytes += name.length + (rawHeaders[at + 1] ?? "").length + ": \r\n".length;
    if (name.length === 4 && name.toLowerCase() === "host") {
      hosts++;
      host = rawHeaders[at + 1] ?? "";
    }
  }
  if (bytes > headBounds.bytes || rawHeaders.length > 2 * headBounds.lines) return headTooLarge();
  if (hosts !== 1 && !(hosts === 0 && httpVersion === "1.0")) {
    return new ApiError("invalid_request", { message: "The request needs one Host header." });
  }
  if (!hostAndPort.test(host)) {
    return new ApiError("invalid_request", {
      message: "The Host header is not a host with an optional port.",
    });
  }
  if (path.startsWith("/")) return undefined;
  return new ApiError("invalid_request", { message: "The request target is not a path." });
}

/** The `Allow` of the whole server (RFC 9110 §9.3.7). */
export const allowedAtAll = "GET, HEAD, POST, OPTIONS";

/** The 431 for headers over the limit. A browser's are its cookies, among them those of other sites of the same domain. */
export function headTooLarge(): ApiError {
  return new ApiError("too_large", {
    status: 431,
    message: `The headers are over ${headBoundsInWords}.`,
    hint: "Send fewer or shorter headers. In a browser, delete the cookies of this site and of others in its domain.",
  });
}
