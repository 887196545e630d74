/** Whether a URL's host name is a loopback address: `localhost`, `127.x.x.x` or `[::1]`. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** Whether a host is in a domain that does not resolve publicly (RFC 6761, RFC 6762, RFC 9476 and ICANN's `.internal`). */
export function isForDevelopment(hostname: string): boolean {
  return isLoopback(hostname) || /\.(?:localhost|test|local|internal|alt)$/.test(hostname);
}
