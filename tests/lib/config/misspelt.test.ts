import { expect, it } from "vitest";
import { findMisspelt } from "@/lib/config/misspelt";

const known = ["APP_URL", "DATABASE_URL", "HOST", "TRUSTED_PROXY_HOPS"];

it("names what differs from a setting by one character", () => {
  const near = [
    "DATABASE_URI",
    "DATABSE_URL",
    "DATABASE__URL",
    "DATABAES_URL",
    "database_url",
    "TRUSTED_PROXY_HOP",
  ];
  expect(near.map((name) => findMisspelt([name], known))).toEqual(
    near.map((name) => [
      `${name} is not a setting: ${name.startsWith("T") ? "TRUSTED_PROXY_HOPS" : "DATABASE_URL"} is, and is not set`,
    ]),
  );
});

it("says nothing of other programs' names, of short ones, and where the setting is given too", () => {
  expect(findMisspelt(["HOME", "HOSTS", "host", "PATH", "DATABASE", "DATABASE_POOLS_URL"], known)).toEqual(
    [],
  );
  expect(findMisspelt(["DATABASE_URI", "DATABASE_URL"], known)).toEqual([]);
});
