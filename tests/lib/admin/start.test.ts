import { readdirSync, statSync } from "node:fs";
import { expect, it } from "vitest";
import { Service } from "@/tests/support/service";

const folder = "dist/admin";

function sizeOf(files: string[]): number {
  return files.reduce((bytes, file) => bytes + statSync(`${folder}/${file}`).size, 0);
}

it("a command on the embedded store loads neither PostgreSQL's library nor those of mail and shared counters", async () => {
  const service = await Service.make({ SIGN_IN: "local" });
  const command = ["--import=./tests/support/loaded.mjs", `${folder}/main.js`, "account", "list"];
  const { code, stderr } = await service.execute(command);
  expect(code).toBe(0);
  expect(stderr).toContain("loaded node:sqlite\n");
  const loaded = ["main.js", "program.js", ...(stderr.match(/(?<=^loaded \.\/).+/gm) ?? [])];
  const all = readdirSync(folder).filter((file) => file.endsWith(".js"));
  for (const library of [/^postgres-/, /^nodemailer-/]) {
    expect(all).toContainEqual(expect.stringMatching(library));
    expect(loaded).not.toContainEqual(expect.stringMatching(library));
  }
  // Node compiles what it loads, which was a third of a command's time.
  expect(sizeOf(loaded)).toBeLessThan(sizeOf(all) / 2);
});
