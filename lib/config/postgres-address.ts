/** Where a PostgreSQL is, as libpq writes it (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING). */
const form = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)([^?#]*)(\?.*)?$/;
const attribute = "target_session_attrs";

/**
 * Splits `postgres://user:password@a:5432,b:5432/office?target_session_attrs=read-write` into one address per host.
 * `undefined` if it is malformed, lists hosts in its query, or asks for another host than the one that accepts writes,
 * to which connections lead in any case.
 */
export function parsePostgresAddress(text: string): string[] | undefined {
  const [, start, hosts = "", path = "", query] = form.exec(text) ?? [];
  if (start === undefined) return undefined;
  const parameters = new URLSearchParams(query);
  const wanted = parameters.get(attribute) ?? "any";
  parameters.delete(attribute);
  const rest = query?.includes(attribute) ? `?${parameters}` : (query ?? "");
  const addresses = hosts.split(",").map((host) => `${start}${host}${path}${rest}`);
  if (!["any", "read-write", "primary"].includes(wanted)) return undefined;
  if (["host", "port"].some((name) => parameters.get(name)?.includes(","))) return undefined;
  if (!addresses.every((address) => URL.canParse(address))) return undefined;
  if (addresses.length > 1 && hosts.split(",").includes("")) return undefined;
  return addresses;
}
