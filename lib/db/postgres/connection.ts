import { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import pg from "pg";
import { privateNetworks } from "@/lib/config/networks";
import type { Way } from "@/lib/db/postgres/tls";
import { log } from "@/lib/runtime/log";

export const connectTimeoutMs = 1500;
const probeAfterMs = 60_000; // of silence: Azure forgets a connection after four minutes, and tells neither side
const goodbyeMs = 5000; // for a server to end its side of a closed connection; a frozen one never does

/** Opens a pool. A connection that breaks while no one uses it is logged. */
export function makePool(options: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(options);
  // Without a listener, a connection that breaks would end the process.
  pool.on("error", (failure: NodeJS.ErrnoException) =>
    log().warn({ code: failure.code }, "a store connection broke"),
  );
  pool.on("connect", (client) => {
    client.on("error", () => {});
    warnOfExposure((client as pg.Client).connection.stream as Socket);
  });
  return pool;
}

let hasWarned = false;

/** Warns once if what we ask the store, and what it answers, can be read on its way. */
function warnOfExposure(socket: Socket): void {
  const { remoteAddress } = socket;
  if (hasWarned || socket instanceof TLSSocket || !remoteAddress || privateNetworks.has(remoteAddress))
    return;
  hasWarned = true;
  log().warn(
    "the store is neither on this machine nor in a private network, and connections to it are not encrypted: set sslmode=verify-full, or require at least, in DATABASE_URL",
  );
}

/** What an address may say of a connection besides where it leads; all else in its query is ignored. */
const passedOn = ["application_name", "client_encoding", "fallback_application_name", "options"];

/**
 * Common options of all connections, each by itself: of an address, pg would decode only some characters of the database's
 * name, and where it asks for TLS at once, forget ours. 64-bit integers are returned as numbers.
 */
export function connectionOptions({ address, ssl }: Way): pg.PoolConfig {
  const { hostname, port, username, password, pathname, searchParams } = new URL(address);
  const names = ssl ? [...passedOn, "sslnegotiation"] : passedOn;
  return {
    ...Object.fromEntries([...searchParams].filter(([name]) => names.includes(name))),
    host: searchParams.get("host") ?? decodeURIComponent(hostname).replace(/^\[(.*)\]$/, "$1"),
    port: Number(port),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: decodeURIComponent(pathname.slice(1)),
    ssl,
    enableChannelBinding: searchParams.get("channel_binding") === "require",
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: probeAfterMs,
    stream: createSocket,
    types: {
      getTypeParser: (oid, format) =>
        oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format),
    },
  };
}

/** A socket that waits only shortly for the server to end its side of the connection, too. */
function createSocket(): Socket {
  const socket = new Socket();
  return socket.once("finish", () => {
    const deadline = setTimeout(() => socket.destroy(), goodbyeMs).unref();
    socket.once("close", () => clearTimeout(deadline));
  });
}
