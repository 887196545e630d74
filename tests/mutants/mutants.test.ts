import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { findRefused } from "@/tests/mutants/mechanical/refused";
import { switchMistakes } from "@/tests/mutants/mechanical/sites";
import { mutants } from "@/tests/mutants/mutants";
import { createFolder } from "@/tests/support/leash";

it.each(mutants)("the source text of a mistake is found: $file, $mistake", ({ file, was, test }) => {
  expect(readFileSync(file, "utf8").split(was)).toHaveLength(2);
  expect(existsSync(test), test).toBe(true);
});

const sources = {
  "lib/owner.ts": `declare const rm: (file: string) => Promise<void>;
type Owner = { email: string } | undefined;
export const isOver = (untilMs: number, nowMs: number) => untilMs <= nowMs;
type Query = { where: (email: string) => { execute: () => Promise<unknown> } };
declare const owners: { deleteFrom: (table: "owners") => Query & { execute: () => Promise<unknown> } };
export const isBlocked = (owner: Owner, blocked: string[]) => Boolean(owner && blocked.includes(owner.email));
export async function remove(query: Query, owner: Owner) {
  if (!owner) return;
  await query.where(owner.email).execute();
  await rm(owner.email);
  await owners.deleteFrom("owners").where(owner.email).execute();
}
`,
  "lib/faulty.ts": "export const isFaulty = (left: boolean, right: string): boolean => left && right;\n",
};

it("says which mistakes the compiler or the linter refuses, and leaves the folder as it was", () => {
  const folder = createFolder();
  for (const name of ["lib", "app", "tests"]) mkdirSync(join(folder, name));
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  for (const name of ["tsconfig.json", "biome.json", ...globSync("tests/*.grit")])
    copyFileSync(name, join(folder, name));
  const sites = Object.entries(sources).flatMap(([file, source]) => {
    writeFileSync(join(folder, file), source);
    return switchMistakes(file, source, 0).sites;
  });
  const refused = findRefused(folder, sites);
  expect(sites.map((site) => `${site.change}: ${refused.get(site)}`)).toEqual([
    "untilMs <= nowMs → <: refused by biome",
    "&& without owner: refused by tsc",
    "&& without blocked.includes(owner.email): undefined",
    "not: !owner: refused by tsc",
    "not awaited: query.where(owner.email).execute(): refused by biome",
    "without .where(owner.email): refused by tsc",
    "not awaited: rm(owner.email): refused by biome",
    'not awaited: owners.deleteFrom("owners").where(owner.email).execute(): refused by biome',
    "without .where(owner.email): refused by biome",
    "&& without left: undefined",
    "&& without right: undefined",
  ]);
  expect(readdirSync(join(folder, "lib")).sort()).toEqual(["faulty.ts", "owner.ts"]);
});
