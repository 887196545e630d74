/** Whether a host name, as a URL has it, is this machine's own: `localhost`, `127.x.x.x` or `[::1]`. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}
