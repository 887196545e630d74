/** What an account's ledger must be, in thousandths, written from the API's page and not from its code. */
export class AccountModel {
  entries: { id: string; thousandths: number; left: number }[] = [];
  holds = new Map<string, { thousandths: number; expiresAtMs: number }>();

  constructor(credits: number) {
    this.entries.push({ id: "first", thousandths: credits, left: 0 });
  }

  /** The least and the most that it can spend in a span of time: a hold that expires within it may hold or not. */
  spendable(fromMs: number, toMs: number): [least: number, most: number] {
    const sum = this.entries.reduce((sum, { thousandths }) => sum + thousandths, 0);
    const held = (atMs: number) =>
      [...this.holds.values()].reduce(
        (held, hold) => held + (hold.expiresAtMs > atMs ? hold.thousandths : 0),
        0,
      );
    return [sum - held(fromMs), sum - held(toMs)];
  }

  /**
   * Follows what came of a request between two instants, once, however often it was sent. Returns what is wrong with the
   * answer.
   */
  follow(asked: Asked, { status, body }: Answered, fromMs: number, toMs: number): string | undefined {
    const [least, most] = this.spendable(fromMs, toMs);
    const hold = "hold" in asked ? this.holds.get(asked.hold) : undefined;
    const spent = "entry" in asked ? this.entries.find(({ id }) => id === asked.entry) : undefined;
    const wanted = "thousandths" in asked ? asked.thousandths : 0;
    if (status === 409) {
      const code = body.error?.code;
      const inHold = asked.kind === "settle" ? (hold?.thousandths ?? 0) : 0;
      if (code === "insufficient_credits")
        return wanted > least + inHold ? undefined : `refused ${wanted} of ${most}`;
      if (code === "hold_closed") {
        if (hold && hold.expiresAtMs > toMs) return "closed before its end";
        if ("hold" in asked) this.holds.delete(asked.hold);
        return undefined;
      }
      return code === "not_reversible" && wanted > (spent?.left ?? 0) ? undefined : `refused with ${code}`;
    }
    if (status !== 200) return `answered ${status}`;
    if (asked.kind === "spend" || asked.kind === "hold") {
      if (wanted > most) return `took ${wanted} of ${most}`;
      if (asked.kind === "spend") this.entries.push({ id: body.id, thousandths: -wanted, left: wanted });
      else this.holds.set(body.id, { thousandths: wanted, expiresAtMs: Date.parse(body.expiresAt ?? "") });
    } else if ("hold" in asked) {
      if (!hold || hold.expiresAtMs <= fromMs) return "closed twice, or after its end";
      this.holds.delete(asked.hold);
      if (wanted > 0) this.entries.push({ id: body.entry ?? "", thousandths: -wanted, left: wanted });
    } else {
      if (!spent || wanted > spent.left) return "gave back more than was spent";
      spent.left -= wanted;
      this.entries.push({ id: body.id, thousandths: wanted, left: 0 });
    }
    return this.judge(body.balance, fromMs, toMs);
  }

  /** What is wrong with a balance that was told in a span of time. */
  judge(balance: number, fromMs: number, toMs: number): string | undefined {
    const told = Math.round(balance * 1000);
    const [least, most] = this.spendable(fromMs, toMs);
    return told >= Math.max(0, least) && told <= most
      ? undefined
      : `the balance ${told} is not ${least} to ${most}`;
  }
}

export type Asked =
  | { kind: "spend" | "hold"; thousandths: number }
  | { kind: "settle"; hold: string; thousandths: number }
  | { kind: "release"; hold: string }
  | { kind: "reverse"; entry: string; thousandths: number };

export type Answered = {
  status: number;
  body: { id: string; entry?: string | null; expiresAt?: string; balance: number; error?: { code: string } };
};
