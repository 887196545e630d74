import { existsSync, readdirSync, statSync } from "node:fs";
import { expect, it } from "vitest";
import { Service } from "@/tests/support/service";

function sizeOf(parts: string[]): number {
  return parts.reduce((bytes, part) => bytes + statSync(`dist/chunks/${part}`).size, 0);
}

it("a command on the embedded store loads neither PostgreSQL's library nor those of mail and shared counters", async () => {
  const service = await Service.make({ SIGN_IN: "local" });
  const command = ["--import=./tests/support/loaded.mjs", "dist/admin/main.js", "account", "list"];
  const { code, stderr } = await service.execute(command);
  expect(code).toBe(0);
  expect(stderr).toContain("loaded node:sqlite\n");
  const loaded = new Set(stderr.match(/(?<=^loaded \S*\/)[\w-]+\.js$/gm));
  const parts = [...loaded].filter((name) => existsSync(`dist/chunks/${name}`));
  const all = readdirSync("dist/chunks").filter((file) => file.endsWith(".js"));
  for (const library of [/^postgres-/, /^nodemailer-/]) {
    expect(all).toContainEqual(expect.stringMatching(library));
    expect(parts).not.toContainEqual(expect.stringMatching(library));
  }
  // Node compiles what it loads, which was a third of a command's time.
  expect(sizeOf(parts)).toBeLessThan(sizeOf(all) / 3);
});
