import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { toTlsVariables, waysTo } from "@/lib/db/postgres/tls";
import { certificate } from "@/tests/support/certificate";
import { createFolder } from "@/tests/support/leash";

describe("the ways to a PostgreSQL", () => {
  const folder = createFolder();
  const file = join(folder, "authority.pem");
  const bundle = join(folder, "authorities.pem");
  const { cert } = certificate();
  writeFileSync(file, cert);

  beforeEach(() => {
    // Nothing in the usual places.
    vi.stubEnv("HOME", folder);
    for (const name of ["PGSSLROOTCERT", "PGSSLCERT", "PGSSLKEY"]) vi.stubEnv(name, undefined);
  });
  afterEach(() => void vi.unstubAllEnvs());

  const [plain, encrypted] = ["plain", "encrypted"];
  const [anyName, ofName] = ["any name", "its name"];
  it.each([
    ["sslmode=disable", [plain]],
    ["sslmode=verify-full&host=/run/postgresql", [plain]],
    ["sslmode=allow", [plain, [encrypted, anyName]]],
    ["sslmode=prefer", [[encrypted, anyName], plain]],
    ["sslmode=require", [[encrypted, anyName]]],
    ["sslmode=verify-ca", [[encrypted, anyName, "verified"]]],
    ["sslmode=verify-full", [[encrypted, ofName, "verified"]]],
    [`sslmode=require&sslrootcert=${file}`, [[encrypted, anyName, "verified", "by the file"]]],
    [`sslmode=verify-full&sslrootcert=${file}`, [[encrypted, ofName, "verified", "by the file"]]],
    ["sslmode=require&sslrootcert=system", [[encrypted, anyName, "verified", "by the system"]]],
  ])("by %s are %j", (parameters, ways) => {
    const found = waysTo(`postgres://db.example/x?${parameters}`).map(({ ssl }) => {
      if (ssl === false) return plain;
      const { rejectUnauthorized, checkServerIdentity, ca } = ssl;
      const by = Array.isArray(ca) ? "by the system" : ca && "by the file";
      const verified = rejectUnauthorized ? ["verified"] : [];
      return [encrypted, checkServerIdentity ? anyName : ofName, ...verified, ...(by ? [by] : [])];
    });
    expect(found).toEqual(ways);
  });

  it("may be told by variables, as to libpq", () => {
    vi.stubEnv("PGSSLROOTCERT", file);
    const [{ ssl } = expect.fail()] = waysTo("postgres://db.example/x?sslmode=require");
    expect(ssl).toMatchObject({ rejectUnauthorized: true, ca: Buffer.from(cert) });
  });

  it.each([
    ["sslmode=require", { PGSSLMODE: "require", PGSSLROOTCERT: "" }],
    [`sslmode=require&sslrootcert=${file}`, { PGSSLMODE: "require", PGSSLROOTCERT: file }],
    [`sslmode=verify-ca&sslrootcert=${file}`, { PGSSLMODE: "verify-ca", PGSSLROOTCERT: file }],
    ["sslmode=require&sslrootcert=system", { PGSSLMODE: "require", PGSSLROOTCERT: bundle }],
    ["sslmode=verify-full", { PGSSLMODE: "verify-full", PGSSLROOTCERT: bundle }],
  ])("of PostgreSQL's own programs by %s are %j", (parameters, variables) => {
    expect(toTlsVariables(new URLSearchParams(parameters), folder)).toMatchObject(variables);
  });
});
