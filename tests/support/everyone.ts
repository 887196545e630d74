import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import { mailsTo } from "@/tests/support/mailbox";
import { connectApps } from "@/tests/support/owner";
import type { Buyer, Shop } from "@/tests/support/shop";

/** One of the owners, with the licence's id at Stripe and the refresh tokens of two apps. */
export type Somebody = Buyer & { subscription: string; apps: string[] };

/**
 * Four owners who have the same since the same minute: a licence after a trial, credits, a browser, two apps. What one of
 * them does, or is done to them, must change nothing of the others.
 */
export async function makeEveryone(shop: Shop) {
  const { service } = shop;
  const all: Somebody[] = [];
  while (all.length < 4) {
    const { buyer, subscription } = await shop.admitLicensed("--trial-ends", "2026-01-01", "--credits", "10");
    all.push({ ...buyer, subscription, apps: await connectApps(buyer.browser, service, 2) });
  }

  /** Waits until nothing is to be mailed any more, also what waits for what might mend it. */
  async function settle(): Promise<void> {
    const waiting = await shop.stage.query(
      `SELECT id FROM sign_in_mails WHERE attempts = 0 AND next_attempt_at_ms > ${shop.stripe.nowMs()}`,
    );
    if (waiting.length > 0) shop.pass(5 * 60_000);
    await shop.sendDue();
  }

  /** What an owner has: all that is stored about them, what the API answers them, and what they were mailed. */
  async function look({ id, email }: Buyer) {
    const { exportedAt, ...stored } = await service.adminJson("person", "export", email);
    const { status, credits } = await service.adminJson("account", "show", email).catch(() => ({}) as never);
    const mails = (await mailsTo(service.dataDir, email)).map(({ subject = "" }) => subject);
    // What the export leaves out, as it is no one's to read.
    const tokens = await shop.stage.query(
      `SELECT id_hash, expires_at_ms, consumed_at_ms FROM connect_state WHERE 'sess_' || grant_id IN
        (SELECT id FROM local_sessions WHERE account_id = '${id}') ORDER BY id_hash`,
    );
    return { stored, status, credits, mails, tokens };
  }

  const lookAtAll = async () => {
    await settle();
    return Promise.all(all.map(look));
  };

  return {
    all,
    /** Has something done, after which only these owners have anything else than before. */
    async only(whom: Somebody[], what: string, act: () => Promise<unknown>): Promise<void> {
      const before = await lookAtAll();
      await act();
      const after = await lookAtAll();
      for (const [n, owner] of all.entries()) {
        if (!whom.includes(owner)) expect(after[n], `${what}: a bystander`).toEqual(before[n]);
        else expect(isDeepStrictEqual(after[n], before[n]), `${what}: nothing happened`).toBe(false);
      }
    },
    /**
     * Has something fall due, of which each of them is mailed as much: with such a subject once, whatever else is due.
     * The minutes in subjects may differ, because one owner was made after the other.
     */
    async eachIsMailed(subject: RegExp, act: () => Promise<unknown>): Promise<void> {
      const before = await lookAtAll();
      await act();
      const after = await lookAtAll();
      const [first = [], ...others] = after.map(({ mails }, n) =>
        mails
          .slice(before[n]?.mails.length)
          .map((each) => each.replace(/\b\d\d:\d\d\b/, "…"))
          .sort(),
      );
      expect(first.filter((each) => subject.test(each))).toHaveLength(1);
      expect(others).toEqual(others.map(() => first));
    },
  };
}
