import { afterEach, describe, expect, it } from "vitest";
import { startPlainPair } from "@/tests/failover/plain-pair";
import { startService } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { besideDatabaseUrl, eventually, queryOnce } from "@/tests/support/databases";
import { operate } from "@/tests/support/operator";

const pair = await startPlainPair({ isSynchronous: true });

describe.runIf(pair)("a commit that is not answered, because the synchronous standby is gone", async () => {
  const url = pair?.url ?? "";
  const service = await startService(
    { ...besideDatabaseUrl, DATABASE_URL: url, SIGN_IN: "local" },
    { expectErrors: true },
  );
  const primary = url.replace(/,[^/]*/, "");
  const follow = async (standby: string) => {
    await queryOnce(primary, `ALTER SYSTEM SET synchronous_standby_names = '${standby}'`);
    await queryOnce(primary, "SELECT pg_reload_conf()");
  };
  const email = "ceo@example.com";
  await service.adminJson("account", "add", email, "--credits", "7");
  // Its own look at the schema waits for the standby as long as it takes.
  await eventually(async () => expect((await service.ask("/ready")).status).toBe(200));
  const lose = async () => {
    await follow("gone");
    const shown = "SHOW synchronous_standby_names";
    await eventually(async () =>
      expect(await queryOnce(primary, shown)).toEqual([{ synchronous_standby_names: "gone" }]),
    );
  };

  afterEach(() => follow("*"));

  it("is said by a command, with an exit code of its own", async () => {
    await lose();
    const { code, stdout, stderr } = await service.admin("credits", "add", email, "5");
    expect({ code, stdout, stderr }).toEqual({
      code: 3,
      stdout: "",
      stderr:
        "unknown: The store did not say whether this was done. See 'audit list' and what it changes before you do it again.\n",
    });
    await follow("*");
    await eventually(async () =>
      expect(await service.adminJson("account", "show", email), "it was").toMatchObject({ credits: 12 }),
    );
    const { stderr: question } = await operate(["credits", "add", email, "5"], service.environment);
    expect(question).toMatch(
      /^invalid_request: ceo@example\.com got 5 credits for “entered by the operator” at \S+, and gets them again\. /,
    );
    expect(await service.adminJson("account", "show", email)).toMatchObject({ credits: 12 });
  });

  it("is said by a form's page, and by no one that nothing was changed", async () => {
    await lose();
    const { headers } = await service.submit("/waitlist/join", { email: "new@example.com" });
    expect(headers.location).toBe(`/waitlist?problem=unknown&reference=${headers["x-request-id"]}`);
    const page = await new Browser(service).open(headers.location ?? "");
    expect(page.text).toContain(
      "we cannot tell whether it was done. Look whether it was before you do it again.",
    );
    expect(page.text).toContain(`quote reference <code>${headers["x-request-id"]}</code>`);
    expect(page.text).not.toContain("nothing was changed");
  });

  it("does not keep a form waiting that comes while a new instance makes its tables", async () => {
    await queryOnce(primary, "CREATE DATABASE another");
    await lose();
    const DATABASE_URL = url.replace(/\/postgres(?=\?|$)/, "/another");
    expect(DATABASE_URL).not.toBe(url);
    const another = await startService(
      { ...besideDatabaseUrl, DATABASE_URL, SIGN_IN: "local" },
      { expectErrors: true },
    );
    const { headers } = await another.submit("/waitlist/join", { email: "new@example.com" });
    expect(headers.location).toBe(`/waitlist?problem=unavailable&reference=${headers["x-request-id"]}`);
    await follow("*");
    await eventually(async () => expect((await another.ask("/ready")).status).toBe(200));
    const joined = await another.submit("/waitlist/join", { email: "new@example.com" });
    expect(joined.headers.location).toBe("/waitlist?joined");
  });
});
