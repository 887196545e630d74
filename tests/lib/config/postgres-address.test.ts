import { describe, expect, it } from "vitest";
import { parsePostgresAddress } from "@/lib/config/postgres-address";
import { parseSettings } from "@/lib/config/settings";

describe("the address of a PostgreSQL", () => {
  it.each([
    ["postgres://u:p@a/office", ["postgres://u:p@a/office"]],
    ["postgresql://u:p@a:5433/office?sslmode=require", ["postgresql://u:p@a:5433/office?sslmode=require"]],
    ["postgres:///office?host=/run/postgresql", ["postgres:///office?host=/run/postgresql"]],
    ["postgres://a/office?target_session_attrs=any", ["postgres://a/office?"]],
    [
      "postgres://u:p%40@a:5432,[::1]:5433/office?sslmode=require&target_session_attrs=read-write",
      [
        "postgres://u:p%40@a:5432/office?sslmode=require",
        "postgres://u:p%40@[::1]:5433/office?sslmode=require",
      ],
    ],
  ])("%s has the hosts %j", (text, addresses) => {
    expect(parsePostgresAddress(text)).toEqual(addresses);
  });

  it.each([
    "mysql://a/office",
    "postgres://a:99999,b/office",
    "postgres://a/office?target_session_attrs=standby",
    "postgres://a/office?port=5432,5433",
  ])("%s stops the start with one line that does not repeat it", (text) => {
    const start = () =>
      parseSettings({ DATABASE_URL: text, APP_URL: "http://localhost", APP_SECRET: "s".repeat(32) });
    expect(start).toThrow(
      /^DATABASE_URL: must be an address like postgres:\/\/user:password@db\.example\.com:5432\/office or, with a standby, postgres:\/\/user:password@a:5432,b:5432\/office\?target_session_attrs=read-write$/,
    );
  });
});
