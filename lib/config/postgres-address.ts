import { decodePart } from "@/lib/config/url-part";

/**
 * Where a PostgreSQL is, as libpq writes it
 * (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS).
 */
const form =
  /^postgres(?:ql)?:\/\/(?:(?<user>[^:@]*)(?::(?<password>.*?))?@)??(?<hosts>[^@/?#]*)(?:\/(?<database>[^@?#]*))?(?:\?(?<query>[^@]*))?$/s;
/** An address with an `@` in its query, which may be the end of a password that is not encoded. */
const ambiguous = /^\w+:\/\/(?:[^@]*@)?[^:@/?#]*(?::\d*)?(?:\/[^@?#]*)?\?.*@/s;
const hostForm = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/;

const modes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];
/** Other drivers' words for them: `ssl=true` of JDBC, which libpq takes too, and those of node-postgres. */
const otherModes: Record<string, string> = {
  true: "require",
  1: "require",
  "no-verify": "require",
  false: "disable",
  0: "disable",
};

/**
 * Splits `postgres://user:password@a:5432,b:5432/office?target_session_attrs=read-write` into one address per host, each a
 * URL with `sslmode`. A host that is the folder of a Unix socket is in its query. `undefined` if it is malformed, or asks for
 * another host than the one that accepts writes, to which connections lead in any case.
 */
export function parsePostgresAddress(text: string): string[] | undefined {
  const { groups } = form.exec(text) ?? {};
  if (!groups || ambiguous.test(text)) return undefined;
  const { hosts = "", query } = groups;
  const parameters = new URLSearchParams(query);
  const take = (...names: string[]) => {
    const [value] = names.flatMap((name) => parameters.get(name) || []);
    for (const name of names) parameters.delete(name);
    return value;
  };
  if (!["any", "read-write", "primary"].includes(take("target_session_attrs") ?? "any")) return undefined;
  const mode = take("sslmode", "ssl", "uselibpqcompat") ?? process.env.PGSSLMODE ?? "prefer";
  const sslmode = parameters.get("sslrootcert") === "system" ? "verify-full" : (otherModes[mode] ?? mode);
  if (!modes.includes(sslmode)) return undefined;
  parameters.set("sslmode", sslmode);

  const named = hosts.split(",").map((host) => hostForm.exec(host));
  if (named.includes(null)) return undefined;
  const names = take("host")?.split(",") ?? named.map((host) => decodePart(host?.[1]));
  const ports = take("port")?.split(",") ?? named.map((host) => host?.[2] ?? "");
  if (names.length > 1 && names.includes("")) return undefined;
  if (ports.length > 1 && ports.length !== names.length) return undefined;
  const user = take("user") ?? decodePart(groups.user);
  const password = take("password") ?? decodePart(groups.password);
  const who = user || password ? `${[user, password].map(encodeURIComponent).join(":")}@` : "";
  const database = encodeURIComponent(take("dbname") ?? decodePart(groups.database));
  const addresses = names.map((given, at) => {
    const host = given || process.env.PGHOST || "localhost";
    const isSocket = host.startsWith("/");
    const own = new URLSearchParams([...parameters, ...(isSocket ? [["host", host]] : [])]);
    return `postgres://${who}${isSocket ? "localhost" : host}:${ports[at] ?? ports[0]}/${database}?${own}`;
  });
  return addresses.every((address) => URL.canParse(address)) ? addresses : undefined;
}
