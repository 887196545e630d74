import { execFile } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { buildSync } from "esbuild";
import { describe, expect, it } from "vitest";
import { DataDirError, readOrCreateSecret } from "@/lib/runtime/data-dir";
import { isInstalled } from "@/tests/support/databases";
import { createFolder } from "@/tests/support/leash";

const run = promisify(execFile);
const asModule = ["--input-type=module", "-e"];
const [{ text: compiled } = { text: "" }] = buildSync({
  entryPoints: ["lib/runtime/data-dir.ts"],
  bundle: true,
  platform: "node",
  format: "esm",
  write: false,
}).outputFiles;
const sound = "s".repeat(43);
const generate = () => sound;

describe("the secret of the data folder", () => {
  it("is created once, readable only by its owner, and leaves no other file", () => {
    const folder = join(createFolder(), "new");
    expect(readOrCreateSecret(folder, generate)).toBe(sound);
    expect(readOrCreateSecret(folder, () => "a".repeat(43))).toBe(sound);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, "app-secret")).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(["app-secret"]);
  });

  it("is the same for concurrent processes", async () => {
    const folder = createFolder();
    const program = `${compiled}
      const generate = () => String(process.pid).padEnd(43, "x");
      process.stdout.write(readOrCreateSecret(${JSON.stringify(folder)}, generate));`;
    const asked = await Promise.all(Array.from({ length: 12 }, () => run("node", [...asModule, program])));
    expect(new Set(asked.map(({ stdout }) => stdout)).size).toBe(1);
    expect(readdirSync(folder)).toEqual(["app-secret"]);
  });

  it.runIf(isInstalled("strace"))(
    "is flushed before it gets its name, and its folder before it is used",
    async () => {
      const folder = createFolder();
      const program = `${compiled}
      readOrCreateSecret(${JSON.stringify(folder)}, () => "x".repeat(43));`;
      const calls = ["-f", "-y", "-e", "trace=fsync,link,linkat", "node", ...asModule, program];
      const { stderr } = await run("strace", calls);
      const order = [
        ...stderr.matchAll(/(fsync|link)(?:at)?\([^\n]*?(app-secret\.draft|corner-office-\w+>)/g),
      ];
      expect(
        order.map(([, call, what]) => `${call} ${what?.startsWith("app-secret") ? "draft" : "folder"}`),
      ).toEqual(["fsync draft", "link draft", "fsync folder"]);
    },
  );

  it.each(["", "sound", "\0".repeat(10)])("is rejected when it is damaged: %j", (damaged) => {
    const folder = createFolder();
    writeFileSync(join(folder, "app-secret"), damaged);
    expect(() => readOrCreateSecret(folder, generate)).toThrow(
      `DATA_DIR: ${folder}/app-secret is damaged (${damaged.length} characters): restore it from a backup, or delete it; a new one invalidates everything signed with it`,
    );
    expect(readFileSync(join(folder, "app-secret"), "utf8"), "it is left as it was").toBe(damaged);
  });

  it("is read after the draft of an interrupted process is removed", () => {
    const folder = createFolder();
    writeFileSync(join(folder, "app-secret.draft.1"), "sou");
    expect(readOrCreateSecret(folder, generate)).toBe(sound);
    writeFileSync(join(folder, "app-secret.draft.2"), "sou");
    expect(readOrCreateSecret(folder, generate)).toBe(sound);
    expect(readdirSync(folder)).toEqual(["app-secret"]);
  });

  it("leaves no draft when it cannot be created", () => {
    const folder = createFolder();
    for (const [code, hint] of [
      ["ENOSPC", ""],
      ["EPERM", ": it has to be on a disk of this machine, and not on a network share or in a bucket"],
    ]) {
      const fail = () => {
        throw Object.assign(new Error("refused"), { code });
      };
      const message = `DATA_DIR: ${folder} cannot be used (${code})${hint}`;
      expect(() => readOrCreateSecret(folder, fail)).toThrow(new DataDirError(message, code));
      expect(readdirSync(folder)).toEqual([]);
    }
  });
});
