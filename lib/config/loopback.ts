/** Whether a URL's host name is a loopback address: `localhost`, `127.x.x.x` or `[::1]`. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}
