import { setTimeout as sleep } from "node:timers/promises";
import type { FindLost } from "@/tests/support/callers";
import type { Calls } from "@/tests/support/calls";
import { writeDueMails } from "@/tests/support/due-mails";
import { messageIdOf, unsubscribeUrlIn } from "@/tests/support/smtp-inbox";
import type { Office } from "./office";

const readers = 400;
const apartMs = 300;
const unsubscribing = 3;
const lookEveryMs = 200;
const patienceMs = 90_000; // for every mail to go out, leases of a lost attempt included

/**
 * Readers of the onboarding mails. The first mail of each becomes due one after the other; every other reader then
 * unsubscribes by its link. At the end the second mails become due: those who unsubscribed get none.
 */
export async function startReaders(office: Office, calls: Calls, run: number): Promise<FindLost> {
  const { service, inbox, query } = office;
  const from = 1_000_000 + run * 1000;
  await writeDueMails(office, { from, to: from + readers, apartMs });
  const ofThisRun = `account_id IN (SELECT 'acc_' || n FROM generate_series(${from}, ${from + readers - 1}) AS n)`;
  await query(
    `INSERT INTO onboarding_emails (id, account_id, recipient_hash, kind, due_at_ms, state, next_attempt_at_ms)
     SELECT 'later-' || id, account_id, recipient_hash, 'first-assistant', due_at_ms, 'scheduled', 9e15::bigint
     FROM onboarding_emails WHERE ${ofThisRun}`,
  );
  const ofReaders = () =>
    inbox.received.filter(({ to }) => {
      const n = Number(/^reader(\d+)@/.exec(to)?.[1]);
      return n >= from && n < from + readers;
    });
  const asked = new Set<string>();
  const unsubscribed = new Set<string>();
  for (let n = 0; n < unsubscribing; n++)
    calls.loop("unsubscribe", lookEveryMs, async () => {
      const mail = ofReaders().find(({ to }) => /[13579]@/.test(to) && !asked.has(to));
      const url = mail && unsubscribeUrlIn(mail);
      if (!url) return;
      asked.add(mail.to);
      const post = { method: "POST", body: "List-Unsubscribe=One-Click" };
      const send = () => service.ask(url.slice(service.url.length), post);
      while (!calls.isStopped && !(await calls.send("unsubscribe", send))) await sleep(lookEveryMs);
      if (!calls.isStopped) unsubscribed.add(mail.to);
    });

  /** Makes every mail due, and waits until all are sent. */
  const sendAll = async () => {
    await query(
      `UPDATE onboarding_emails SET due_at_ms = 0, next_attempt_at_ms = 0 WHERE state = 'scheduled' AND ${ofThisRun}`,
    );
    const untilMs = Date.now() + patienceMs;
    for (;;) {
      const [row] = await query(
        `SELECT count(*)::int AS n FROM onboarding_emails WHERE state IN ('scheduled', 'sending') AND ${ofThisRun}`,
      );
      if (row?.n === 0 || Date.now() > untilMs) return;
      await sleep(lookEveryMs);
    }
  };

  return async () => {
    await sendAll();
    const received = ofReaders();
    const ids = received.map((mail) => `${mail.to} ${messageIdOf(mail)}`);
    for (const id of ids.filter((id, at) => ids.indexOf(id) !== at)) calls.sayWrong("mail", `twice: ${id}`);
    const lost: string[] = [];
    for (let n = from; n < from + readers; n++) {
      const email = `reader${n}@example.com`;
      const mails = received.filter(({ to }) => to === email).length;
      if (unsubscribed.has(email) && mails > 1) lost.push(`the unsubscribe of ${email}`);
      if (!asked.has(email) && mails < 2) lost.push(`a mail to ${email}`);
    }
    return lost;
  };
}
