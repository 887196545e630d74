import { execFile } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { buildSync } from "esbuild";
import { describe, expect, it } from "vitest";
import { readOrCreateInDataDir } from "@/lib/runtime/data-dir";
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
const content = { generate: () => "sound text", isValid: (text: string) => text === "sound text" };

describe("a file of the data folder", () => {
  it("is created once, readable only by its owner, and leaves no other file", () => {
    const folder = join(createFolder(), "new");
    expect(readOrCreateInDataDir(folder, "content", content)).toBe("sound text");
    const remade = { ...content, generate: () => "another" };
    expect(readOrCreateInDataDir(folder, "content", remade)).toBe("sound text");
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, "content")).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(["content"]);
  });

  it("is the same for concurrent processes", async () => {
    const folder = createFolder();
    const program = `${compiled}
      const content = { generate: () => String(process.pid), isValid: () => true };
      process.stdout.write(readOrCreateInDataDir(${JSON.stringify(folder)}, "content", content));`;
    const asked = await Promise.all(Array.from({ length: 12 }, () => run("node", [...asModule, program])));
    expect(new Set(asked.map(({ stdout }) => stdout)).size).toBe(1);
    expect(readdirSync(folder)).toEqual(["content"]);
  });

  it.runIf(isInstalled("strace"))(
    "is flushed before it gets its name, and its folder before it is used",
    async () => {
      const folder = createFolder();
      const program = `${compiled}
      readOrCreateInDataDir(${JSON.stringify(folder)}, "content", { generate: () => "x", isValid: () => true });`;
      const calls = ["-f", "-y", "-e", "trace=fsync,link,linkat", "node", ...asModule, program];
      const { stderr } = await run("strace", calls);
      const order = [...stderr.matchAll(/(fsync|link)(?:at)?\([^\n]*?(content\.draft|corner-office-\w+>)/g)];
      expect(
        order.map(([, call, what]) => `${call} ${what?.startsWith("content") ? "draft" : "folder"}`),
      ).toEqual(["fsync draft", "link draft", "fsync folder"]);
    },
  );

  it.each(["", "sound", "\0".repeat(10)])("is rejected when it is damaged: %j", (damaged) => {
    const folder = createFolder();
    writeFileSync(join(folder, "content"), damaged);
    expect(() => readOrCreateInDataDir(folder, "content", content)).toThrow(
      `DATA_DIR: ${folder}/content is damaged (${damaged.length} characters): restore it from a backup, or delete it; a new one invalidates everything signed with it`,
    );
    expect(readFileSync(join(folder, "content"), "utf8"), "it is left as it was").toBe(damaged);
  });

  it("is read after the draft of an interrupted process is removed", () => {
    const folder = createFolder();
    writeFileSync(join(folder, "content.draft.1"), "sou");
    expect(readOrCreateInDataDir(folder, "content", content)).toBe("sound text");
    writeFileSync(join(folder, "content.draft.2"), "sou");
    expect(readOrCreateInDataDir(folder, "content", content)).toBe("sound text");
    expect(readdirSync(folder)).toEqual(["content"]);
  });

  it("leaves no draft when it cannot be created", () => {
    const folder = createFolder();
    const generate = () => {
      throw Object.assign(new Error("full"), { code: "ENOSPC" });
    };
    expect(() => readOrCreateInDataDir(folder, "content", { ...content, generate })).toThrow(
      `DATA_DIR: ${folder} cannot be used (ENOSPC)`,
    );
    expect(readdirSync(folder)).toEqual([]);
  });
});
