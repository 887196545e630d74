import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { createFolder } from "@/tests/support/leash";

const secret = "$2b$10$OMZ69gxxsmRgwAt945WHSujpr/u8ZMx.xwtxWOCMkeMW7p3XqKYca";

describe("a .env file", () => {
  let folder: string;
  beforeEach(() => {
    folder = createFolder();
  });

  const write = (name: string, ...lines: string[]) => writeFileSync(join(folder, name), lines.join("\n"));

  /** Runs a program of ours in the folder with these variables only. */
  function run([file = "", ...rest]: string[], environment: Record<string, string> = {}) {
    const env = { PATH: process.env.PATH, NODE_ENV: "production", ...environment };
    const options = { cwd: folder, env: env as NodeJS.ProcessEnv };
    return new Promise<{ stdout: string; stderr: string; code: unknown }>((done) =>
      execFile("node", [resolve(file), ...rest], options, (error, stdout, stderr) =>
        done({ stdout: stdout.trim(), stderr, code: error?.code ?? 0 }),
      ),
    );
  }

  /** What `DATA_DIR` is in the folder, as `check` says it. */
  async function readDataDir(environment: Record<string, string> = {}) {
    const { stdout, stderr } = await run(["dist/admin/main.js", "--json", "check"], environment);
    const findings: { what: string; detail: string }[] = JSON.parse(stdout);
    const { detail = "" } = findings.find(({ what }) => what === "store") ?? {};
    return { dataDir: detail.split(`${folder}/`)[1], complaints: stderr };
  }

  it.each([
    ["DATA_DIR=", secret.replaceAll("/", "-"), ""],
    ['DATA_DIR="', "pa$HOME", '"'],
    ["export DATA_DIR='", "$(date) `date`", "'"],
    ["\uFEFFDATA_DIR=", "pa#ss#word-$HOME", ""],
    ["DATA_DIR=", "two words $x", " # a comment"],
    ["DATA_DIR = ", "pa#ss#word", " # a comment"],
  ])("is read as it is written: %s%s%s", async (before, value, after) => {
    write(".env", `${before}${value}${after}`);
    expect(await readDataDir()).toEqual({ dataDir: value, complaints: "" });
  });

  it("is read in the UTF-16 that PowerShell's > writes", async () => {
    const bytes = Buffer.from("\uFEFFDATA_DIR=pa$x\r\n", "utf16le");
    writeFileSync(join(folder, ".env"), bytes);
    expect(await readDataDir()).toEqual({ dataDir: "pa$x", complaints: "" });
  });

  it("is that of production, too, where the command line of Windows leaves a blank behind NODE_ENV", async () => {
    write(".env.production", "DATA_DIR=of-production");
    expect((await readDataDir({ NODE_ENV: "production " })).dataDir).toBe("of-production");
    write(".env", "PORT=none");
    const { stderr } = await run(["dist/server/main.js"], { NODE_ENV: "production " });
    expect(stderr).toMatch(/^\{"level":"fatal","time":\d+,"msg":"PORT: must be a whole number/);
  });

  it("gives way to the next one in Next's order, and all of them to the environment, which is literal too", async () => {
    for (const name of [".env", ".env.production", ".env.local", ".env.production.local"]) {
      write(name, `DATA_DIR=${name}$x`);
      expect((await readDataDir()).dataDir).toBe(`${name}$x`);
    }
    expect((await readDataDir({ DATA_DIR: "its $own" })).dataDir).toBe("its $own");
  });

  it("with a backslash before a $ keeps it, and says so; a folder of that name is no file", async () => {
    write(".env", String.raw`DATA_DIR=pa\$x`);
    mkdirSync(join(folder, ".env.local"));
    expect(await readDataDir()).toEqual({
      dataDir: String.raw`pa\$x`,
      complaints: ".env: DATA_DIR has a \\ before a $, which is part of the value: no $ is replaced\n",
    });
  });

  it("has the secret that is in its quotes, and none is made", async () => {
    write(".env", `APP_SECRET="${secret}"`, "BACKUP_PASSPHRASE='correct $horse battery staple'");
    for (const command of [["migrate"], ["backup", "office.backup"]])
      expect(await run(["dist/admin/main.js", ...command])).toMatchObject({ code: 0 });
    const print = ["dist/admin/main.js", "restore", "office.backup", "--print-app-secret"];
    expect((await run(print)).stdout).toBe(secret);
  });

  it("with an empty secret stops the start where one is required", async () => {
    const needed = ["DATABASE_URL=postgres://localhost/office", "APP_URL=https://office.example.com"];
    write(".env", 'APP_SECRET=""', ...needed);
    const { code, stderr } = await run(["dist/server/main.js"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /"msg":"APP_SECRET: is required with DATABASE_URL, Upstash or REDIS_URL, because every instance must derive the same keys"}\n$/,
    );
  });
});
