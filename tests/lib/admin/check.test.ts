import { execFile } from "node:child_process";
import { chmodSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { engines, type Stage } from "@/tests/support/engines";
import type { Outcome } from "@/tests/support/operator";
import { startOutside } from "@/tests/support/outside";
import { type Environment, Service } from "@/tests/support/service";

/** Root may open every file regardless of its mode, so the tests drop the two capabilities that allow it. */
const asUser = process.getuid?.() === 0 ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] : [];

const pathsIn = (folder: string) => [
  folder,
  ...readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
];

describe.each(engines)("check on $name", (engine) => {
  let stage: Stage;
  let environment: Environment;
  beforeEach(async () => {
    stage = await engine.prepare();
    const service = await Service.make(stage.environment);
    await service.adminJson("account", "add", "ceo@example.com");
    environment = service.environment;
  });
  afterEach(async () => {
    for (const path of pathsIn(environment.DATA_DIR ?? "")) chmodSync(path, 0o700);
    await stage.clear();
  });

  /** Makes the store read-only: its files, or every transaction. */
  async function makeReadOnly(): Promise<void> {
    const { DATABASE_URL, DATA_DIR = "" } = environment;
    if (DATABASE_URL) {
      const name = new URL(DATABASE_URL).pathname.slice(1);
      await stage.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
      return;
    }
    for (const path of pathsIn(DATA_DIR)) chmodSync(path, 0o555);
  }

  /** Runs a command as a user to whom file modes apply. */
  function operateAsUser(...args: string[]): Promise<Outcome> {
    const [program = "", ...parameters] = [...asUser, "node", "dist/admin/main.js", ...args];
    const options = { env: environment as NodeJS.ProcessEnv };
    return new Promise((resolve) => {
      execFile(program, parameters, options, (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr }),
      );
    });
  }

  it("exits with 1, ✗ and the first error when the store can be read but not written", async () => {
    expect((await operateAsUser("check")).code).toBe(0);
    await stage.open(); // as a server does: SQLite reads next to a log, and cannot make one in a read-only folder
    await makeReadOnly();
    expect((await operateAsUser("account", "show", "ceo@example.com")).code).toBe(0);
    const { code, stdout } = await operateAsUser("check");
    const [, mark, said, remedy] = /^(.) store +(.*)\n +→ (.*)$/m.exec(stdout) ?? [];
    expect([code, mark]).toEqual([1, "✗"]);
    expect(said).toMatch(
      /attempt to write a readonly database|cannot execute INSERT in a read-only transaction/,
    );
    expect(remedy).toMatch(/is writable|accepts writes/);
    const refused = await operateAsUser("account", "add", "new@example.com");
    expect([refused.code, refused.stdout]).toEqual([1, ""]);
  });

  if (engine.name === "PostgreSQL")
    it("says which rights the role lacks", async () => {
      const url = new URL(environment.DATABASE_URL ?? "");
      const role = `clerk_of_${url.pathname.slice(1)}`;
      await stage.query(`CREATE ROLE ${role} LOGIN`);
      await stage.query(`GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`);
      await stage.query(`REVOKE SELECT ON accounts FROM ${role}`);
      await stage.query(`REVOKE UPDATE, DELETE ON holds FROM ${role}`);
      url.username = role;
      environment = { ...environment, DATABASE_URL: url.href };
      const { code, stdout } = await operateAsUser("check");
      const [, mark, said, remedy] = /^(.) store +(.*)\n +→ (.*)$/m.exec(stdout) ?? [];
      expect([code, mark]).toEqual([1, "✗"]);
      expect(said).toBe("PostgreSQL answers, but the role lacks SELECT on accounts; UPDATE, DELETE on holds");
      expect(remedy).toContain("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES to it");
      await stage.query(`DROP OWNED BY ${role}`);
      await stage.query(`DROP ROLE ${role}`);
    });
});

describe("check", () => {
  const check = async (what: string, environment: Environment = {}) =>
    (await Service.make({ SIGN_IN: "local", ...environment })).check(what);

  it("warns while there is no address for questions and security.txt", async () => {
    expect(await check("contact")).toMatchObject({ level: "warning" });
    const detail = expect.stringContaining("help@example.com");
    const contact = await check("contact", { SUPPORT_EMAIL: "help@example.com" });
    expect(contact).toMatchObject({ level: "fine", detail });
  });

  it("fetches the metadata document of a known agent, and says who is locked out while it cannot", async () => {
    const document = "https://claude.ai/oauth/mcp-oauth-client-metadata";
    expect(await check("agents")).toMatchObject({
      level: "warning",
      detail: expect.stringMatching(/no network here.*Claude Code, Codex and Copilot.* are locked out$/),
      remedy: expect.stringContaining("set CONNECT_CLIENTS=none"),
    });
    const outside = await startOutside({
      [document]: { client_id: document, redirect_uris: ["https://claude.ai/back"] },
    });
    const readable = { level: "fine", detail: `${document} can be read` };
    expect(await check("agents", outside.environment)).toMatchObject(readable);
    expect(outside.asked).toEqual([document]);
    const off = { level: "fine", detail: "they register themselves" };
    expect(await check("agents", { CONNECT_CLIENTS: "none" })).toMatchObject(off);
    expect(outside.asked).toHaveLength(1);
    await outside.stop();
  });
});
