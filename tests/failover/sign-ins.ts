import { setTimeout as sleep } from "node:timers/promises";
import { Browser } from "@/tests/support/browser";
import type { Answer } from "@/tests/support/service";
import type { Caller, World } from "./caller";

const people = 3;
const pauseMs = 1000;
const maxPeople = 1000;

/** People who sign in with a mailed code, and stay signed in. */
export async function startSignIns({ front, inbox, query, record, run }: World): Promise<Caller> {
  await query(
    `INSERT INTO accounts (id, email, subject, plan, created_at_ms)
     SELECT 'person-${run}-' || n, 'person-${run}-' || n || '@example.com', 'user_${run}_' || n, 'hobby', 0
     FROM generate_series(0, ${maxPeople}) AS n`,
  );
  const signedIn = new Map<string, Browser>();
  const codesTo = (email: string) =>
    inbox.received
      .filter(({ to }) => to === email)
      .flatMap(({ raw }) => /^Subject: (\d{6}) is your/m.exec(String(raw))?.[1] ?? []);
  const leadsTo = (address: string) => (answer: Answer) => answer.headers.location === address;

  const signIn = async (person: number) => {
    const email = `person-${run}-${person}@example.com`;
    const browser = new Browser(front);
    let requests = 0;
    const send = () => {
      requests++;
      return browser.submit("/sign-in/send", { email });
    };
    if (!(await record.untilDone("sign-in", send, leadsTo("/sign-in/code")))) return;
    while (codesTo(email).length === 0 && !record.isStopped) await sleep(100);
    const redeem = async () => browser.submit("/sign-in/redeem", { code: codesTo(email).at(-1) ?? "" });
    if (!(await record.untilDone("sign-in", redeem, leadsTo("/home")))) return;
    record.acknowledge("sign-in");
    signedIn.set(email, browser);
    const codes = codesTo(email).length;
    if (codes > requests) record.say("sign-in", `${codes} codes for ${requests} requests`);
  };

  const work = (first: number) => record.repeat(pauseMs, (n) => signIn(first + n * people));
  return {
    stopped: Promise.all(Array.from({ length: people }, (_, n) => work(n))),
    async findLost() {
      const lost: string[] = [];
      for (const [email, browser] of signedIn) {
        await browser.open("/sign-in/renew");
        const status = await browser.status();
        if (status !== 200) lost.push(`the session of ${email}: ${status}`);
      }
      return lost;
    },
  };
}
