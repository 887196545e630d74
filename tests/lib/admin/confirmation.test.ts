import { execFile } from "node:child_process";
import { describe, expect, it } from "vitest";
import { startStage } from "@/tests/support/block";
import { engines } from "@/tests/support/engines";
import { operate } from "@/tests/support/operator";
import { Service } from "@/tests/support/service";

const email = "ceo@example.com";

describe.each(engines)("a command that takes something away, on $name", async (engine) => {
  const without = (...args: string[]) => operate(args, service.environment);

  /** Runs a command at a terminal and types an answer to its question. */
  function atTerminal(answer: string, ...args: string[]): Promise<{ code: number; said: string }> {
    const command = ["node", "dist/admin/main.js", ...args].map((word) => `'${word}'`).join(" ");
    return new Promise((resolve) => {
      const env = { ...process.env, ...service.environment } as NodeJS.ProcessEnv;
      const child = execFile("script", ["-qec", command, "/dev/null"], { env }, (error, stdout) =>
        resolve({ code: typeof error?.code === "number" ? error.code : 0, said: stdout }),
      );
      let said = "";
      child.stdout?.on("data", (chunk) => {
        const wasAsked = said.includes("[y/N]");
        said += chunk;
        if (!wasAsked && said.includes("[y/N]")) child.stdin?.write(answer);
      });
    });
  }

  const stage = await startStage(engine);
  const service = await Service.make({ SIGN_IN: "local", ...stage.environment });
  await service.adminJson("account", "add", email, "--plan", "licensed", "--credits", "12.5");
  await service.adminJson("banner", "set", "warning", "Closed on Friday");
  await stage.query("INSERT INTO waitlist (email, joined_at_ms) VALUES ('waiting@example.com', 1)");
  await service.adminJson("waitlist", "invite", "waiting@example.com");

  it.each([
    [
      ["account", "delete", email],
      "This deletes the account of ceo@example.com (licensed, 12.5 credits), its history, sessions, apps and passkeys.",
    ],
    [
      ["person", "erase", email],
      "This erases ceo@example.com everywhere: the account with its credits, sessions, apps, passkeys and mails, invitations, the waitlist and the name in the audit. It cannot be undone.",
    ],
    [["session", "end", email, "--all"], "This ends 0 sessions of ceo@example.com."],
    [["banner", "set", "promo", "Half price"], "This replaces the warning “Closed on Friday”."],
  ])("refuses `%j` where there is no terminal, and says how to go on", async (command, consequence) => {
    const before = await service.adminJson("audit", "list");
    expect(await without(...command)).toEqual({
      code: 1,
      stdout: "",
      stderr: `invalid_request: ${consequence} Nothing was changed. Repeat it with --yes to do it without being asked.\n`,
    });
    expect(await service.adminJson("audit", "list")).toEqual(before);
  });

  it("says that npm has kept --yes", async () => {
    const byNpm = { ...service.environment, npm_lifecycle_event: "admin", npm_config_yes: "true" };
    const { code, stderr } = await operate(["account", "delete", email], byNpm);
    expect(code).toBe(1);
    expect(stderr).toContain("Nothing was changed. npm has kept --yes for itself. Write options behind --, ");
  });

  it("does not invite an email from the waitlist a second time unasked", async () => {
    const { code, stderr } = await without("waitlist", "invite", "waiting@example.com");
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^invalid_request: waiting@example\.com was invited \S+ \(now\)\. This sends another invitation, and the earlier link stops working\. Nothing was changed\. /,
    );
  });

  it("does not add the same credits for the same reason twice in an hour unasked", async () => {
    const entry = ["credits", "add", email, "2.5", "--reason", "a present"];
    expect((await without(...entry)).stdout).toBe("ceo@example.com has 15 credits.\n");
    const { code, stdout, stderr } = await without(...entry);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(
      /^invalid_request: ceo@example\.com got 2\.5 credits for “a present” at \S+Z, and gets them again\. Nothing was changed\. Repeat it with --yes /,
    );
    expect((await without(...entry.slice(0, -1), "another present")).code).toBe(0);
    expect((await without(...entry, "--yes")).stdout).toBe("ceo@example.com has 20 credits.\n");
    const now = Date.now();
    await stage.query(`UPDATE credit_entries SET created_at_ms = ${now - 59 * 60_000}`);
    expect((await without(...entry)).code, "the last minute of the hour").toBe(1);
    await stage.query(`UPDATE credit_entries SET created_at_ms = ${now - 60 * 60_000 - 1}`);
    expect((await without(...entry)).stdout).toBe("ceo@example.com has 22.5 credits.\n");
    await service.adminJson("account", "set", email, "--credits", "12.5");
  });

  it("revokes a key by --yes, and names it", async () => {
    await service.adminJson("token", email);
    const [{ kid }] = (await service.adminJson("keys", "list")) as unknown as [{ kid: string }];
    const warning = "Everyone who has a token that it signed must renew it or sign in again.";
    expect((await without("keys", "revoke", kid)).stderr).toContain(
      `This revokes the key ${kid}, for good. ${warning}`,
    );
    const { code, stdout } = await without("keys", "revoke", kid, "--yes");
    expect(code).toBe(0);
    expect(stdout.startsWith(`Revoked ${kid}. ${warning}\n`)).toBe(true);
  });

  it("asks at a terminal, changes nothing without a yes, and does it with one", async () => {
    await service.token(email);
    await service.token(email);
    const no = await atTerminal("\r", "session", "end", email, "--all");
    expect(no.code).toBe(1);
    expect(no.said).toMatch(/ceo@example\.com\r?\n {2}Access: 3 program sessions → ended\r?\n/);
    expect(no.said).toContain("This ends 3 program sessions of ceo@example.com. Go on? [y/N]");
    expect(no.said).toContain("invalid_request: Nothing was changed. You did not confirm it.");
    expect(await service.adminJson("session", "list", email)).toHaveLength(3);

    const yes = await atTerminal("y\r", "session", "end", email, "--all");
    expect(yes.said).toContain("Ended 3 program sessions of ceo@example.com.");
    expect(yes.code).toBe(0);
    expect(await service.adminJson("session", "list", email)).toEqual([]);
  });

  it("takes the end of input for a no", async () => {
    const { code, said } = await atTerminal("\x04", "account", "delete", email);
    expect(code).toBe(1);
    expect(said).toContain("Nothing was changed.");
    expect(await service.adminJson("account", "show", email)).toMatchObject({ email });
  });
});
