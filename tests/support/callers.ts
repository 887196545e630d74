import { setTimeout as sleep } from "node:timers/promises";
import { Browser } from "@/tests/support/browser";
import type { Calls } from "@/tests/support/calls";
import { connectApps, refresh } from "@/tests/support/owner";
import type { Answer, Service } from "@/tests/support/service";
import { codeIn, type startSmtpInbox } from "@/tests/support/smtp-inbox";
import type { OpenStore } from "@/tests/support/stores";

/** A service, the mails that it sends, and its store. */
export type Served = {
  service: Service;
  inbox: Awaited<ReturnType<typeof startSmtpInbox>>;
  query: OpenStore["query"];
};

/** Finds what was acknowledged and is not there any more, in words. */
export type FindLost = () => Promise<string[]>;

const people = 4000; // one sign-in each: codes are limited by email
const apps = 12;
const keptAccounts = 20;

const leadsTo = (address: string) => (answer: Answer) => answer.headers.location === address;

/** People who sign in with a mailed code, and stay signed in. Those of each run are others. */
export async function startSignIns(
  world: Served,
  calls: Calls,
  perSecond: number,
  run = 0,
): Promise<FindLost> {
  const { inbox, query } = world;
  const rows = Array.from({ length: people }, (_, n) => {
    const person = `person-${run}-${n}`;
    return `('${person}', '${person}@example.com', 'user_${run}_${n}', 'hobby', 0)`;
  });
  await query(`INSERT INTO accounts (id, email, subject, plan, created_at_ms) VALUES ${rows.join()}`);
  const signedIn = new Map<string, Browser>();
  calls.repeat("sign-in", perSecond, async (n) => {
    const email = `person-${run}-${n}@example.com`;
    const browser = await signIn(world, calls, email);
    if (browser) signedIn.set(email, browser);
  });
  return async () => {
    for (const mail of inbox.received)
      if (signedIn.has(mail.to) && codeIn(mail)) calls.sayWrong("sign-in", `a second code to ${mail.to}`);
    const lost: string[] = [];
    for (const [email, browser] of signedIn) {
      await browser.post("/sign-in/renew");
      const status = await browser.status();
      if (status !== 200) lost.push(`the session of ${email}: ${status}`);
    }
    return lost;
  };
}

/** Signs in with the code of the mail, which is taken out of the inbox. */
export async function signIn(
  { service, inbox }: Served,
  calls: Calls,
  email: string,
): Promise<Browser | undefined> {
  const browser = new Browser(service);
  const send = () => browser.submit("/sign-in/send", { email });
  if (!(await calls.send("sign-in", send, leadsTo("/sign-in/code")))) return undefined;
  let code: string | undefined;
  for (let tries = 0; tries < 600 && !code; tries++) {
    const at = inbox.received.findIndex((mail) => mail.to === email && codeIn(mail));
    const [mail] = at < 0 ? [] : inbox.received.splice(at, 1);
    code = mail && codeIn(mail);
    await sleep(100);
  }
  if (!code) return void calls.note("sign-in", performance.now(), "late");
  const redeem = () => browser.submit("/sign-in/redeem", { code });
  return (await calls.send("sign-in", redeem, leadsTo("/home"))) && browser;
}

/** Connected apps of a signed-in owner, which renew their tokens and read the account with each new one. */
export async function startApps(
  { service }: Served,
  calls: Calls,
  perSecond: number,
  owner: Browser,
): Promise<void> {
  await owner.post("/sign-in/renew");
  const tokens = await connectApps(owner, service, apps);
  calls.repeat("refresh", perSecond, async (n) => {
    const answer = await calls.send("refresh", () => refresh(service, tokens[n % apps] ?? ""));
    if (!answer) return;
    const { refresh_token, access_token } = JSON.parse(answer.text);
    tokens[n % apps] = refresh_token;
    const headers = { authorization: `Bearer ${access_token}` };
    await calls.send("read", () => service.ask("/api/entitlement", { headers }));
  });
}

/** People who join the waitlist: each once, whatever the answer. */
export function startJoins(world: Served, calls: Calls, perSecond: number, run = 0): FindLost {
  const joined: string[] = [];
  calls.repeat("join", perSecond, async (n) => {
    const email = `joins-${run}-${n}@example.com`;
    const join = () => new Browser(world.service).submit("/waitlist/join", { email });
    if (await calls.send("join", join, leadsTo("/waitlist?joined"))) joined.push(email);
  });
  return () => findMissing(world, joined, "waitlist");
}

/** An operator who adds and later deletes accounts. A command that fails says so by its exit code. */
export function startCommands(world: Served, calls: Calls, perSecond: number, run = 0): FindLost {
  const { service } = world;
  const added: string[] = [];
  calls.repeat("command", perSecond, async (n) => {
    const startedAt = performance.now();
    const email = `added-${run}-${n}@example.com`;
    const { code } = await service.admin("account", "add", email, "--plan", "trial");
    calls.note("command", startedAt, code === 0 ? "good" : "late");
    if (code === 0) added.push(email);
    if (added.length > keptAccounts) await service.admin("account", "delete", added.shift() ?? "");
  });
  return () => findMissing(world, added, "accounts");
}

/** Which of these emails a table does not hold. */
async function findMissing({ query }: Served, emails: readonly string[], table: string): Promise<string[]> {
  const rows = await query(`SELECT email FROM ${table}`);
  const there = new Set(rows.map(({ email }) => email));
  return emails.filter((email) => !there.has(email));
}
