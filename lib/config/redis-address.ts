import { decodePart } from "@/lib/config/url-part";

/** Where a Redis is: one server, the Sentinels that know its master, or some nodes of a cluster. */
export type RedisAddress = NonNullable<ReturnType<typeof parseRedisAddress>>;

const form =
  /^(?:redis|valkey)(s?)(?:\+(sentinel|cluster))?:\/\/(?:([^:/?#]*)(?::(.*))?@)?([^/?#@]+)\/?(\d*)(\?[^@]*)?$/s;
const hostForm = /^(?:\[([\da-f:.]+)\]|([^:[\]\s]+))(?::(\d{1,5}))?$/i;

/**
 * Parses `redis://user:password@host:6379/0`, `redis+sentinel://…@a:26379,b:26379/0?master=name` with an optional
 * `sentinelPassword`, and `redis+cluster://…@a:6379,b:6379`; `rediss` for TLS, whose certificate is not verified with
 * `ssl_cert_reqs=none`, as Python's client writes it; each also as `valkey` or `valkeys`, which Aiven prints. `undefined` if it is
 * none of these.
 */
export function parseRedisAddress(text: string) {
  const match = form.exec(text);
  if (!match) return undefined;
  const [, tls, kind = "server", username, password, list = "", database, query] = match;
  const hosts = list.split(",").map((host) => parseHost(host, kind === "sentinel" ? 26_379 : 6379));
  const parameters = new URLSearchParams(query);
  const master = parameters.get("master") ?? "";
  const sentinelPassword = parameters.get("sentinelPassword");
  if (!hosts.every((host) => host !== undefined) || (kind === "sentinel") !== (master !== ""))
    return undefined;
  if ((kind === "server" && hosts.length > 1) || (kind === "cluster" && Number(database) > 0))
    return undefined;
  return {
    kind: kind as "server" | "sentinel" | "cluster",
    hosts,
    tls: tls === "s",
    isVerified: parameters.get("ssl_cert_reqs")?.toLowerCase() !== "none",
    credentials: {
      ...(username && { username: decodePart(username) }),
      ...(password && { password: decodePart(password) }),
    },
    database: Number(database),
    /** The name that the Sentinels give it. */
    master,
    sentinelCredentials: sentinelPassword ? { password: sentinelPassword } : {},
  };
}

function parseHost(text: string, defaultPort: number): { host: string; port: number } | undefined {
  const [, ipv6, name, port] = hostForm.exec(text) ?? [];
  const host = ipv6 ?? name;
  return host ? { host, port: Number(port ?? defaultPort) } : undefined;
}
