import { setTimeout as sleep } from "node:timers/promises";
import { writeDueMails } from "@/tests/support/due-mails";
import type { Caller, World } from "./caller";

const readers = 400;
const apartMs = 300;
const unsubscribing = 3;
const lookEveryMs = 200;
const patienceMs = 90_000; // for every mail to go out, leases of a lost attempt included

/**
 * Readers of the onboarding mails. The first mail of each becomes due one after the other; every other reader then
 * unsubscribes by its link. At the end the second mails become due: those who unsubscribed get none.
 */
export async function startReaders(world: World): Promise<Caller> {
  const { front, inbox, query, record, run } = world;
  const from = 1_000_000 + run * 1000;
  await writeDueMails(world, { from, to: from + readers, apartMs });
  const ofThisRun = `account_id IN (SELECT 'acc_' || n FROM generate_series(${from}, ${from + readers - 1}) AS n)`;
  await query(
    `INSERT INTO onboarding_emails (id, account_id, recipient_hash, kind, due_at_ms, state, next_attempt_at_ms)
     SELECT 'later-' || id, account_id, recipient_hash, 'first-assistant', due_at_ms, 'scheduled', 9e15::bigint
     FROM onboarding_emails WHERE ${ofThisRun}`,
  );
  const beganAt = inbox.received.length;
  const links: { email: string; path: string }[] = [];
  const asked = new Set<string>();
  const unsubscribed = new Set<string>();

  const look = async () => {
    let at = beganAt;
    for (; !record.isStopped; await sleep(lookEveryMs)) {
      const received = inbox.received.slice(at);
      at += received.length;
      for (const { to, raw } of received) {
        const n = Number(/^reader(\d+)@/.exec(to)?.[1]);
        const [, url = ""] = /^List-Unsubscribe:\s*<([^>]+)>/im.exec(String(raw)) ?? [];
        if (n % 2 === 0 || url === "" || asked.has(to)) continue;
        asked.add(to);
        links.push({ email: to, path: url.slice(front.url.length) });
      }
    }
  };
  const unsubscribe = () =>
    record.repeat(100, async () => {
      const link = links.shift();
      if (!link) return;
      const send = () => front.ask(link.path, { method: "POST", body: "List-Unsubscribe=One-Click" });
      if (!(await record.untilDone("unsubscribe", send, ({ status }) => status === 200))) return;
      record.acknowledge("unsubscribe");
      unsubscribed.add(link.email);
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

  return {
    stopped: Promise.all([look(), ...Array.from({ length: unsubscribing }, unsubscribe)]),
    async findLost() {
      await sendAll();
      const received = inbox.received.slice(beganAt);
      const ids = received.map(({ to, raw }) => `${to} ${/^Message-ID: (.*)$/im.exec(String(raw))?.[1]}`);
      for (const id of ids.filter((id, at) => ids.indexOf(id) !== at)) record.say("mail", `twice: ${id}`);
      const lost: string[] = [];
      for (let n = from; n < from + readers; n++) {
        const email = `reader${n}@example.com`;
        const mails = received.filter(({ to }) => to === email).length;
        if (unsubscribed.has(email) && mails > 1) lost.push(`the unsubscribe of ${email}`);
        if (!asked.has(email) && mails < 2) lost.push(`a mail to ${email}`);
      }
      return lost;
    },
  };
}
