/** The path and query of a request target. The host of an absolute-form target (RFC 9112 §3.2.2) is ignored. */
export function withoutAuthority(target: string): string {
  if (target.startsWith("/")) return target;
  const [, path] = /^https?:\/\/[^/?#]*(.*)$/i.exec(target) ?? [];
  if (path === undefined) return target;
  return path.startsWith("/") ? path : `/${path}`;
}
