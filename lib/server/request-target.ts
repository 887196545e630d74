/** The path and query of a request target. The host of an absolute-form target (RFC 9112 §3.2.2) is ignored. */
export function withoutAuthority(target: string): string {
  if (target.startsWith("/")) return target;
  const [, path] = /^https?:\/\/[^/?#]*(.*)$/i.exec(target) ?? [];
  if (path === undefined) return target;
  return path.startsWith("/") ? path : `/${path}`;
}

/** The path of a request target, as it was sent. */
export function pathOf(target: string): string {
  const whole = withoutAuthority(target);
  const query = whole.indexOf("?");
  return query === -1 ? whole : whole.slice(0, query);
}
