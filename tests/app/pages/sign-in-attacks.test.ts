import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "@/tests/support/databases";
import { codeTo, mailsTo } from "@/tests/support/mailbox";
import { Service } from "@/tests/support/service";
import { Visitor } from "@/tests/support/visitor";

/** Asks for a code, and answers the one that is mailed. */
async function askForCode(visitor: Visitor, service: Service, email: string): Promise<string> {
  const before = (await mailsTo(service.dataDir, email)).length;
  expect((await visitor.submit("/sign-in/send", { email })).headers.location).toBe("/sign-in/code");
  return eventually(async () => {
    const mails = await mailsTo(service.dataDir, email);
    if (mails.length === before) throw new Error(`no new mail to ${email}`);
    return /^\d{6}/.exec(mails.at(-1)?.subject ?? "")?.[0] ?? "";
  });
}

/** Signs in as people do. */
async function signIn(visitor: Visitor, service: Service, email: string): Promise<void> {
  const code = await askForCode(visitor, service, email);
  expect((await visitor.submit("/sign-in/redeem", { code })).headers.location).toBe("/home");
}

describe("the cookies of a host beside ours, over HTTPS", () => {
  let service: Service;
  const visitor = () => new Visitor(service);

  beforeAll(async () => {
    const APP_URL = "https://office.example.com";
    service = await Service.start({ APP_URL, SIGN_IN: "local", TRUSTED_PROXY_HOPS: "1" });
    await service.adminJson("account", "add", "attacker@example.com", "--plan", "licensed");
    await service.adminJson("account", "add", "victim@example.com", "--plan", "licensed");
  });
  afterAll(() => service.stop());

  it("cannot take the place of ours: a browser takes those from this host alone (RFC 6265bis §4.1.3.2)", async () => {
    const attacker = visitor();
    const asked = await attacker.submit("/sign-in/send", { email: "attacker@example.com" });
    const code = await codeTo(service.dataDir, "attacker@example.com");
    const signedIn = await attacker.submit("/sign-in/redeem", { code });
    const set = [asked, signedIn].flatMap(({ headers }) => headers["set-cookie"] ?? []);
    expect(set.length).toBeGreaterThanOrEqual(4);
    for (const cookie of set) {
      expect(cookie).toMatch(
        /^(__Host-office-[a-z]+|__session)=[^;]*; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/,
      );
    }

    const victim = visitor();
    const secret = attacker.cookies.get("__Host-office-client") ?? "";
    for (const name of ["office-client", "__client", "__host-office-client"]) {
      victim.cookies.clear();
      victim.cookies.set(name, secret);
      expect((await victim.submit("/sign-in/renew")).status, name).toBe(401);
    }
  });

  it("are refused where there are two of a name, whichever comes first", async () => {
    const [attacker, victim] = [visitor(), visitor()];
    await signIn(attacker, service, "attacker@example.com");
    await signIn(victim, service, "victim@example.com");
    for (const [name, refused] of [
      [
        "__Host-office-client",
        (cookie: string) => service.submit("/sign-in/renew", {}, { headers: { cookie } }),
      ],
      ["__session", (cookie: string) => service.ask("/api/entitlement", { headers: { cookie } })],
    ] as const) {
      const [mine, theirs] = [victim, attacker].map(({ cookies }) => `${name}=${cookies.get(name)}`);
      for (const cookie of [`${mine}; ${theirs}`, `${theirs}; ${mine}`]) {
        expect((await refused(cookie)).status, name).toBe(401);
      }
    }
  });
});

describe("an address with a problem that is none of ours", () => {
  it("shows the page without it", async () => {
    const service = await Service.start({ SIGN_IN: "local" });
    const invited = await service.adminJson<{ url: string }>("invite", "ceo@example.com");
    const { pathname, search } = new URL(invited.url);
    for (const page of ["/sign-in?", "/waitlist?", `${pathname}${search}&`]) {
      for (const problem of ["__proto__", "constructor", "toString", "hasOwnProperty", "x&problem=y"]) {
        const { status, text } = await service.ask(`${page}problem=${problem}`);
        expect(status, `${page} ${problem}`).toBe(200);
        expect(text).not.toContain('role="alert"');
      }
    }
    await service.stop();
  });
});
