import pg from "pg";
import { StoreOutage } from "@/lib/db/store-outage";

/** What PostgreSQL's SQLSTATEs say (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
export const states = {
  /** A pooler leads each transaction to another server, without ours knowing. */
  unknownStatement: /^(26000|42P05)$/,
  /** No entry of pg_hba.conf, perhaps for this encryption, or no such user or password. */
  notAuthorized: /^28/,
  /** The server is, or is becoming, a standby. */
  readOnly: /^25006$/,
  /** Connection exceptions, server start and shutdown, timeouts of transactions. */
  connectionEnds: /^(08|57P0|25P0[34])/,
  /** Not our mistake: connections, read-only and idle transactions, conflicts, resources, locks, a shutdown. */
  outage: /^(08|25006|25P0[34]|40|53|55P03|57|58)/,
};

export const says = (failure: unknown, state: RegExp) =>
  failure instanceof pg.DatabaseError && state.test(failure.code ?? "");

/** The connection has ended, or was refused. Poolers say so with states that mean nothing, or with those of mistakes. */
export function hasEnded(failure: unknown): boolean {
  const isError = failure instanceof pg.DatabaseError && failure.severity !== "FATAL";
  return !isError || says(failure, states.connectionEnds);
}

/** A failure of the network is an outage, and so are some of the server. A value that cannot be sent is our mistake. */
export function toOutage(failure: unknown): unknown {
  const isMistake = !hasEnded(failure) && !says(failure, states.outage);
  return isMistake || failure instanceof TypeError || failure instanceof RangeError
    ? failure
    : new StoreOutage(failure);
}

/** The server refused, and may not with TLS, or without it. */
export function isAboutTls(failure: unknown): boolean {
  const { code = "", message } = failure as NodeJS.ErrnoException;
  return says(failure, states.notAuthorized) || /SSL|TLS|CERT/i.test(`${code} ${message}`);
}

/** All connections are in use: not the fault of the host. */
export function isPoolExhausted(failure: unknown): boolean {
  return failure instanceof Error && failure.message === "timeout exceeded when trying to connect";
}

/** A startup parameter that a pooler does not support, in the words of PgBouncer or of Amazon's RDS Proxy. */
export function isRefusedSetting(failure: unknown): boolean {
  return (
    failure instanceof pg.DatabaseError &&
    /unsupported startup parameter|support the option/.test(failure.message)
  );
}
