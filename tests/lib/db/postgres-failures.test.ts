import pg from "pg";
import { expect, it } from "vitest";
import {
  hasEnded,
  isAboutTls,
  isPoolExhausted,
  isRefusedSetting,
  toOutage,
} from "@/lib/db/postgres/failures";
import { StoreOutage } from "@/lib/db/store-outage";

const said = (code: string, severity = "ERROR", message = "as it says") =>
  Object.assign(new pg.DatabaseError(message, 0, "error"), { code, severity });
const network = Object.assign(new Error("write ECONNRESET"), { code: "ECONNRESET" });

it.each([
  ["a lost network", network, "an outage", "ended"],
  ["57P01: the server shuts down", said("57P01"), "an outage", "ended"],
  ["25P03: it was idle in a transaction", said("25P03"), "an outage", "ended"],
  ["08P01, with which a pooler ends", said("08P01", "FATAL"), "an outage", "ended"],
  ["3D000, with which a pooler ends", said("3D000", "FATAL"), "an outage", "ended"],
  ["40001: two transactions met", said("40001"), "an outage", "goes on"],
  ["53300: too many connections", said("53300"), "an outage", "goes on"],
  ["25006: it is a standby", said("25006"), "an outage", "goes on"],
  ["42703: there is no such column", said("42703"), "a mistake", "goes on"],
  ["23505: there is one already", said("23505"), "a mistake", "goes on"],
  ["a value that cannot be sent", new TypeError("circular"), "a mistake", "ended"],
  ["a value that is too deep", new RangeError("stack"), "a mistake", "ended"],
])("%s is %s, and the connection %s", (_, failure, kind, connection) => {
  expect(toOutage(failure) instanceof StoreOutage ? "an outage" : "a mistake").toBe(kind);
  expect(hasEnded(failure) ? "ended" : "goes on").toBe(connection);
});

it.each([
  ["no entry of pg_hba.conf", said("28000", "FATAL"), true],
  ["a pooler that demands it", said("08P01", "FATAL", "SSL required"), true],
  [
    "a certificate",
    Object.assign(new Error("unable to verify"), { code: "DEPTH_ZERO_SELF_SIGNED_CERT" }),
    true,
  ],
  ["a server without", new Error("The server does not support SSL connections"), true],
  ["no such database", said("3D000", "FATAL"), false],
  ["a lost network", network, false],
])("whether it is about TLS is known of %s", (_, failure, isAbout) => {
  expect(isAboutTls(failure)).toBe(isAbout);
});

it("a pool without a free connection, and a setting that a pooler refuses, are told from other failures", () => {
  expect([
    isPoolExhausted(new Error("timeout exceeded when trying to connect")),
    isPoolExhausted(network),
    isRefusedSetting(said("08P01", "FATAL", "unsupported startup parameter: statement_timeout")),
    isRefusedSetting(said("0A000", "FATAL", "RDS Proxy currently doesn't support the option")),
    isRefusedSetting(said("08P01", "FATAL", "no such user")),
  ]).toEqual([true, false, true, true, false]);
});
