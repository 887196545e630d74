import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { type ConnectionOptions, getCACertificates } from "node:tls";

/** One way to a host of the store: with these options of TLS, or without it. */
export type Way = { address: string; ssl: ConnectionOptions | false };

/**
 * The ways that the `sslmode` of an address allows, in the order of libpq, which takes the second where the server refuses the
 * first (https://www.postgresql.org/docs/current/libpq-ssl.html). Certificates are read anew by each call.
 */
export function waysTo(address: string): Way[] {
  const { searchParams: given } = new URL(address);
  const plain: Way = { address, ssl: false };
  const mode = given.get("sslmode");
  // libpq has no TLS on Unix sockets, whatever the mode.
  if (given.has("host") || mode === "disable") return [plain];
  const encrypted: Way = { address, ssl: readOptions(given) };
  if (mode === "prefer") return [encrypted, plain];
  return mode === "allow" ? [plain, encrypted] : [encrypted];
}

const takesAnyName = () => undefined;

function readOptions(given: URLSearchParams): ConnectionOptions {
  const mode = given.get("sslmode");
  const [rootCert, cert, key] = tlsFiles(given);
  // An authority is there to be asked: with one, libpq makes verify-ca of the weaker modes.
  const isVerified = rootCert !== undefined || mode === "verify-ca" || mode === "verify-full";
  return {
    rejectUnauthorized: isVerified,
    ...(mode !== "verify-full" && { checkServerIdentity: takesAnyName }),
    ...(rootCert && { ca: rootCert === "system" ? authorities() : readFileSync(rootCert) }),
    ...(cert && { cert: readFileSync(cert) }),
    ...(key && { key: readFileSync(key) }),
  };
}

/** Those of Node, of `NODE_EXTRA_CA_CERTS` and of the system. */
const authorities = () => [...new Set([...getCACertificates("default"), ...getCACertificates("system")])];

/** The certificate authority, our certificate and its key, by the parameter, the variable or the usual place in libpq. */
function tlsFiles(given: URLSearchParams): (string | undefined)[] {
  const usual = { sslrootcert: "root.crt", sslcert: "postgresql.crt", sslkey: "postgresql.key" };
  return Object.entries(usual).map(([name, file]) => {
    const path = join(findHome(), ".postgresql", file);
    return given.get(name) || process.env[`PG${name.toUpperCase()}`] || (existsSync(path) ? path : undefined);
  });
}

/** A container's user may have no home. */
function findHome(): string {
  try {
    return homedir();
  } catch {
    return "/";
  }
}

/** The same for PostgreSQL's own programs. `folder` gets the authorities that Node trusts, where libpq would know no other. */
export function toTlsVariables(given: URLSearchParams, folder: string): Record<string, string> {
  const mode = given.get("sslmode") ?? "";
  const [rootCert, cert = "", key = ""] = tlsFiles(given);
  const bundle = join(folder, "authorities.pem");
  const isBundled = rootCert === "system" || (!rootCert && mode.startsWith("verify"));
  if (isBundled) writeFileSync(bundle, authorities().join("\n"));
  return {
    PGSSLMODE: mode,
    PGSSLROOTCERT: isBundled ? bundle : (rootCert ?? ""),
    PGSSLCERT: cert,
    PGSSLKEY: key,
  };
}
