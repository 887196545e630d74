type Hold = { thousandths: number; expiresAtMs: number };

/** The least and the most that something can be, because no one knows at which instant of a span it was decided. */
type Range = [least: number, most: number];

/** When a request was answered, by the earliest and the latest clock of an instance in that time. */
export type Span = { fromMs: number; toMs: number };

/** What an account's ledger must be, in thousandths, written from the API's page and not from its code. */
export class AccountModel {
  /** What was written, with how much of a spend can be given back. */
  readonly entries = new Map<string, { thousandths: number; left: number }>();
  readonly holds = new Map<string, Hold>();
  /** The sum of all entries. */
  private sum: number;
  /** The latest instant by any clock: what had expired by then may be closed, also if the clock goes back. */
  private latestMs = 0;

  constructor(private readonly given: number) {
    this.sum = given;
  }

  /** Follows what came of a request, once, however often it was sent. Returns what is wrong with the answer. */
  follow(asked: Asked, { status, body }: Answered, span: Span): string | undefined {
    this.latestMs = Math.max(this.latestMs, span.toMs);
    if (status === 409) return this.followRefusal(asked, body, span);
    if (status !== 200) return `answered ${status}`;
    const wrong = this.take(asked, body, span);
    return wrong ?? this.judge(body.balance, span);
  }

  /** What is wrong with a balance that was told. */
  judge(balance: number, { fromMs, toMs }: Span): string | undefined {
    this.latestMs = Math.max(this.latestMs, toMs);
    const told = Math.round(balance * 1000);
    const [least, most] = this.spendable(fromMs);
    const isRight = told / 1000 === balance && told >= Math.max(0, least) && told <= most;
    return isRight ? undefined : `the balance ${balance} is not ${least} to ${most} thousandths`;
  }

  /** What is wrong with the ledger as it is listed: the first entry is what the account was given. */
  compare(listed: Listed[]): string | undefined {
    const [first, ...others] = listed;
    if (first?.credits !== this.given / 1000) return "the first entry is missing";
    let sum = this.given;
    for (const { id, credits } of others) {
      const entry = this.entries.get(id);
      if (!entry) return `the entry ${id} was written and never answered, or twice`;
      if (entry.thousandths !== Math.round(credits * 1000)) return `the entry ${id} has another amount`;
      sum += entry.thousandths;
      if (sum < 0) return `the balance was below 0 after ${id}`;
    }
    if (new Set(listed.map(({ id }) => id)).size !== listed.length) return "an entry is listed twice";
    if (others.length !== this.entries.size)
      return `${this.entries.size - others.length} answered entries are lost`;
    return listed.every(({ createdAt }, at) => createdAt >= (listed[at - 1]?.createdAt ?? ""))
      ? undefined
      : "the ledger goes back in time";
  }

  /** What can be spent. */
  spendable(fromMs: number): Range {
    const heldAfter = (ms: number) =>
      [...this.holds.values()].reduce(
        (held, { thousandths, expiresAtMs }) => held + (expiresAtMs > ms ? thousandths : 0),
        0,
      );
    return [this.sum - heldAfter(fromMs), this.sum - heldAfter(this.latestMs)];
  }

  /** Whether a refusal was due: it has changed nothing. */
  private followRefusal(asked: Asked, { error, balance }: Body, span: Span): string | undefined {
    const [least, most] = this.spendable(span.fromMs);
    if (error?.code === "insufficient_credits") {
      const ofHold = asked.kind === "settle" ? (this.holds.get(asked.hold)?.thousandths ?? 0) : 0;
      if (amountOf(asked) <= least + ofHold)
        return `refused ${amountOf(asked)} of ${least} to ${most}, and ${ofHold} held`;
      return this.judgeRefused(balance, [asked.kind === "batch" ? 0 : least, most + ofHold]);
    }
    if (error?.code === "hold_closed" && "hold" in asked) {
      const hold = this.holds.get(asked.hold);
      if (hold && hold.expiresAtMs > this.latestMs) return "closed before its end";
      this.holds.delete(asked.hold);
      return undefined;
    }
    const left = "entry" in asked ? (this.entries.get(asked.entry)?.left ?? 0) : 0;
    const isDue = error?.code === "not_reversible" && "entry" in asked && asked.thousandths > left;
    return isDue ? undefined : `refused with ${error?.code}`;
  }

  private judgeRefused(balance: number, [least, most]: Range): string | undefined {
    const told = balance * 1000;
    return Math.round(told) >= least && Math.round(told) <= most
      ? undefined
      : `refused, and told ${balance} of ${least} to ${most} thousandths`;
  }

  private take(asked: Asked, body: Body, { fromMs }: Span): string | undefined {
    const [, most] = this.spendable(fromMs);
    const wanted = amountOf(asked);
    // Exact in credits, so no rounding hides here.
    const told = (credits: number) => body.credits === credits / 1000;
    switch (asked.kind) {
      case "spend":
        if (wanted > most) return `spent ${wanted} of ${most}`;
        if (!told(-wanted)) return `spent ${body.credits} for ${wanted}`;
        return this.add(body.id, -wanted, wanted);
      case "hold":
        if (wanted > most) return `held ${wanted} of ${most}`;
        if (!told(wanted)) return `held ${body.credits} for ${wanted}`;
        this.holds.set(body.id, { thousandths: wanted, expiresAtMs: Date.parse(body.expiresAt ?? "") });
        return undefined;
      case "reverse": {
        const spent = this.entries.get(asked.entry);
        if (!spent || wanted > spent.left) return `gave back ${wanted} of ${spent?.left}`;
        if (!told(wanted)) return `gave back ${body.credits} for ${wanted}`;
        spent.left -= wanted;
        return this.add(body.id, wanted, 0);
      }
      case "batch":
        return "took a batch as one entry";
      default: {
        const hold = this.holds.get(asked.hold);
        if (!hold || hold.expiresAtMs <= fromMs) return "closed twice, or after its end";
        if (wanted > most + hold.thousandths) return `settled ${wanted} of ${most} and ${hold.thousandths}`;
        this.holds.delete(asked.hold);
        if (wanted === 0) return body.entry ? "an entry of nothing" : undefined;
        return this.add(body.entry ?? "", -wanted, wanted);
      }
    }
  }

  private add(id: string, thousandths: number, left: number): string | undefined {
    if (!id || this.entries.has(id)) return "no new entry";
    this.entries.set(id, { thousandths, left });
    this.sum += thousandths;
    return undefined;
  }
}

const amountOf = (asked: Asked) => (asked.kind === "release" ? 0 : asked.thousandths);

/** A batch is asked of as a whole only where it is all or nothing and was refused; otherwise its spends are, one by one. */
export type Asked =
  | { kind: "spend" | "hold" | "batch"; thousandths: number }
  | { kind: "settle"; hold: string; thousandths: number }
  | { kind: "release"; hold: string }
  | { kind: "reverse"; entry: string; thousandths: number };

type Body = {
  id: string;
  credits?: number;
  entry?: string | null;
  expiresAt?: string;
  balance: number;
  error?: { code: string };
};

export type Answered = { status: number; body: Body };

export type Listed = { id: string; credits: number; createdAt: string };
