import { describe, expect, it } from "vitest";
import { borrowService } from "@/tests/support/block";
import { listTextColumns } from "@/tests/support/text-columns";

const email = "ceo@example.com";

/**
 * An escape sequence, a forged line, C1 controls, bidirectional overrides, line separators, invisible characters, a
 * tag.
 */
const hostile =
  "N\x1b]0;owned\x07\x1b[2J\r\nforged\x85\x9b2J\u202e\u2066\u2028\u2029\u200b\u00ad\ufeff\u{e0041}";

/** Characters that a terminal interprets; our own output contains line breaks. */
const obeyed = /[^\P{C}\n]|[\p{Zl}\p{Zp}]/u;

/** The commands that show stored data, with the table that each reads. */
const lists: [table: string, ...command: string[]][] = [
  ["accounts", "account", "list"],
  ["accounts", "account", "list", "--limit", "1"],
  ["accounts", "account", "show", email],
  ["waitlist", "waitlist", "list"],
  ["onboarding_emails", "emails", "list", email],
  ["credit_entries", "credits", "history", email],
  ["local_sessions", "session", "list", email],
  ["signing_keys", "keys", "list"],
  ["connect_clients", "connect", "list"],
  ["audit_entries", "audit", "list"],
  ["site_banner", "banner", "show"],
  ["local_sessions", "person", "export", email],
  ["credit_entries", "person", "export", email],
];

/** Columns that contain JSON, with a valid value. */
const inJson: Record<string, unknown> = {
  redirect_uris: [hostile],
  before: { name: hostile },
  after: { name: hostile },
};

describe("a name chosen by a stranger", async () => {
  const { stage, service } = await borrowService(undefined, { isAlone: true });
  await service.adminJson("account", "add", email, "--plan", "licensed", "--credits", "3");
  await service.token(email);
  await service.submit("/waitlist/join", { email: "waiting@example.com" });
  await service.adminJson("banner", "set", "promo", "Hello");
  await service.adminJson("connect", "add", "studio", "Studio", "com.example.studio:/signed-in");

  it.each(lists)("cannot control the terminal, from %s: %s %s", async (table, ...command) => {
    const usual = await service.admin(...command);
    const lines = usual.stdout.split("\n").length;
    const columns = (await listTextColumns(stage)).filter((of) => of.table === table);
    let shown = 0;
    for (const { column } of columns.filter(
      ({ column }) => !/(?:^|_)id$|^made_in$|^renewed_from$|^ended_as$/.test(column),
    )) {
      const [row] = await stage.query(
        `SELECT rowid, ${column} AS text FROM ${table} ORDER BY 1 DESC LIMIT 1`,
      );
      const set = (text: unknown) =>
        stage.query(
          `UPDATE ${table} SET ${column} = ${text === null ? "NULL" : `'${text}'`} WHERE rowid = ${row?.rowid}`,
        );
      await set(column in inJson ? JSON.stringify(inJson[column]) : hostile);
      for (const args of [command, ["--json", ...command]]) {
        const { code, stdout, stderr } = await service.admin(...args);
        expect(stdout + stderr, `${table}.${column}`).not.toMatch(obeyed);
        expect(stderr.trim().split("\n"), `${table}.${column}`).toHaveLength(1);
        if (code !== 0 || !stdout.includes("forged")) continue;
        if (!args.includes("--json")) expect(stdout.split("\n"), `${table}.${column}`).toHaveLength(lines);
        else expect(JSON.stringify(JSON.parse(stdout))).toContain(JSON.stringify(hostile).slice(1, -1));
        shown++;
      }
      await set(row?.text);
    }
    expect(shown, "columns of this table that are shown").toBeGreaterThan(0);
  });

  it("cannot control the terminal when an app registered it", async () => {
    const client = {
      client_id: "app_x",
      client_name: hostile,
      redirect_uris: [`http://127.0.0.1/${hostile}`],
    };
    await stage.query(
      `INSERT INTO connect_state (kind, id_hash, payload, expires_at_ms)
       VALUES ('Client', 'x', '${JSON.stringify(client)}', ${Date.now() + 60_000})`,
    );
    for (const args of [
      ["connect", "list"],
      ["--json", "connect", "list"],
    ]) {
      const { stdout } = await service.admin(...args);
      expect(stdout).toContain("app_x");
      expect(stdout).not.toMatch(obeyed);
    }
  });
});
