// Corner Office backend client 1.4.0, for Node 22.18 and newer, which runs it as it is. Nothing else to install.
import { createPrivateKey, type KeyObject, randomUUID, sign } from "node:crypto";

const timeoutMs = 10_000; // for one attempt
const assertionSeconds = 60;
const maxBackoffSeconds = 10;
const pageSize = 1000; // what one request lists, and spends, at most

/** Credits to three decimals: a text such as "0.125" is exact, and so is a number that is written like that. */
export type Amount = string | number;

export type Account = {
  id: string;
  email: string;
  /** Your own name for it. */
  reference: string | null;
  status: string;
  trialEndsAt: string | null;
  assistantLimit: number | null;
  plan: string;
  /** The names of what the owner has. */
  features: string[];
  /** By the names of what they limit; null is no limit, as where a name is missing. */
  limits: Record<string, number | null>;
  /** What of these an operator gives beyond the plan. */
  ownFeatures: string[] | null;
  ownLimits: Record<string, number | null> | null;
  /** When what an operator gives ends; null without an end. */
  givenEndsAt: string | null;
  /** What it can spend now: its entries without what is held. */
  balance: number;
  held: number;
  createdAt: string;
};

export type Plan = {
  name: string;
  title: string;
  description: string;
  features: string[];
  featureTitles: Record<string, string>;
  limits: Record<string, number | null>;
  creditsAMonth: number;
  /** False: only who has it keeps it. */
  isOffered: boolean;
};

/** What changed a balance. `credits` are below 0 if they were spent. */
export type Entry = { id: string; account: string; credits: number; createdAt: string; balance: number };

export type Hold = {
  id: string;
  account: string;
  credits: number;
  state: string;
  /** The entry that settled it. */
  entry: string | null;
  createdAt: string;
  /** From then on it holds nothing. */
  expiresAt: string;
  balance: number;
};

/** An entry in a list. */
export type ListedEntry = {
  id: string;
  account: string;
  credits: number;
  reason: string;
  reference: string | null;
  /** Which backend wrote it; null if none did. */
  backend: string | null;
  /** The hold that it settled. */
  hold: string | null;
  /** The entry that it gives back, or a part of it. */
  reverses: string | null;
  createdAt: string;
};

/** What happened to an account; `/docs` says what `data` has of each type. */
export type Event = {
  id: string;
  type: string;
  timestamp: string;
  /** `number` is its place among the events of the account. */
  data: { account: string; number: number; [field: string]: unknown };
};

export type AccountFilter = { email?: string; reference?: string; plan?: string; state?: string };
export type Spend = { credits: Amount; reason: string; reference?: string };
export type HoldRequest = Spend & { expiresInSeconds: number };

type Failure = { code: string; message: string; hint: string; docs: string };

/** The owner may run, and what was asked for is spent or held. */
export type Allowed = {
  ok: true;
  status: string;
  trialEndsAt?: string;
  recheckAfterSeconds: number;
  plan: string;
  assistantLimit?: number;
  features: string[];
  limits: Record<string, number | null>;
  entry?: Entry;
  hold?: Hold;
};

/** The owner may not run, for the reason in `status`. Nothing was spent or held. */
export type Denied = { ok: false; status: string; message: string; error: Failure };

/** The service refused, and wrote nothing. Branch on `code`; `answer` has figures such as `balance`. */
export class Refused extends Error {
  status: number;
  code: string;
  hint: string;
  answer: { error: Failure; ok?: boolean; [figure: string]: unknown };

  constructor(status: number, answer: Refused["answer"]) {
    super(`${answer.error.message} ${answer.error.hint}`);
    this.name = "Refused";
    this.status = status;
    this.code = answer.error.code;
    this.hint = answer.error.hint;
    this.answer = answer;
  }
}

/**
 * No answer of the service came in time. What was asked for may have been done: call again with the same `key`, also days
 * later, and it is done once.
 */
export class Outage extends Error {
  key: string;

  constructor(message: string, key: string) {
    super(message);
    this.name = "Outage";
    this.key = key;
  }
}

/**
 * Calls the backend API. Every method throws {@link Refused} or {@link Outage}. Those that write take an idempotency key as
 * their last argument: give one that you can make again, such as the id of a job, if your program may end before it has the
 * answer.
 */
export class BackendApi {
  private readonly url: string;
  private readonly backend: string;
  private readonly key: KeyObject;
  private readonly patienceSeconds: number;
  private readonly audience: string;
  private clockOffsetMs = 0; // how far the clock of the service is ahead of ours, once it has refused ours

  /**
   * @param url - `BACKEND_URL`
   * @param backend - its id, as `backend add` printed it
   * @param privateKey - Ed25519 or P-256, in PEM
   * @param options - how long a call is repeated during an outage, and `BACKEND_URL` if you reach it at another address
   */
  constructor(
    url: string,
    backend: string,
    privateKey: string,
    options: { patienceSeconds?: number; audience?: string } = {},
  ) {
    this.url = url.replace(/\/$/, "");
    this.backend = backend;
    this.key = createPrivateKey(privateKey.replaceAll("\\n", "\n")); // as environments have it in one line
    const { asymmetricKeyType, asymmetricKeyDetails } = this.key;
    if (asymmetricKeyType !== "ed25519" && asymmetricKeyDetails?.namedCurve !== "prime256v1")
      throw new TypeError("The private key is neither Ed25519 nor P-256.");
    this.patienceSeconds = options.patienceSeconds ?? 60;
    this.audience = options.audience ?? this.url;
  }

  account(id: string): Promise<Account> {
    return this.call("id", path`/v1/accounts/${id}`);
  }

  /** All accounts, those of a plan or state, or the one with an email or a reference. */
  accounts(filter: AccountFilter = {}): AsyncGenerator<Account> {
    return this.pages<Account>("accounts", filter);
  }

  /** All plans, from the least to the most. */
  plans(): AsyncGenerator<Plan> {
    return this.pages<Plan>("plans");
  }

  /**
   * The entries of an account, or of all, oldest first, that follow the one with the id `after`. Keep the id of the last, and
   * ask later for what came since.
   */
  entries({ account, after }: { account?: string; after?: string } = {}): AsyncGenerator<ListedEntry> {
    const list = account === undefined ? "/v1/entries" : path`/v1/accounts/${account}/entries`;
    return this.follow<ListedEntry>("entries", list, after);
  }

  /** What happened to all accounts, oldest first, after the event with the id `after`. */
  events({ after }: { after?: string } = {}): AsyncGenerator<Event> {
    return this.follow<Event>("events", "/v1/events", after);
  }

  /** Whether the owner of a session token may run. If they may, spends or holds in the same step. */
  async check(
    token: string,
    more: { resource?: "api" | "mcp"; spend?: Spend; hold?: HoldRequest } = {},
    key?: string,
  ): Promise<Allowed | Denied> {
    try {
      return await this.call<Allowed>("ok", "/v1/checks", { token, ...more }, key);
    } catch (refused) {
      if (refused instanceof Refused && refused.answer.ok === false)
        return refused.answer as unknown as Denied;
      throw refused;
    }
  }

  spend(account: string, spend: Spend, key?: string): Promise<Entry> {
    return this.call("id", path`/v1/accounts/${account}/spends`, spend, key);
  }

  hold(account: string, hold: HoldRequest, key?: string): Promise<Hold> {
    return this.call("id", path`/v1/accounts/${account}/holds`, hold, key);
  }

  /** Spends what is held: all of it, or less, and the rest can be spent again at once; or more, which has to be there. */
  settle(hold: string, credits?: Amount, key?: string): Promise<Hold> {
    return this.call("id", path`/v1/holds/${hold}/settle`, { credits }, key);
  }

  release(hold: string, key?: string): Promise<Hold> {
    return this.call("id", path`/v1/holds/${hold}/release`, {}, key);
  }

  /**
   * Holds credits for as long as some work lasts. Then what the work has put into `hold.used` is spent, also if it throws. If it
   * has put nothing there, all is spent, or nothing if it throws.
   */
  async whileHolding<Result>(
    account: string,
    request: HoldRequest,
    work: (hold: Hold & { used?: Amount }) => Promise<Result>,
    key: string = randomUUID(),
  ): Promise<Result> {
    const hold: Hold & { used?: Amount } = await this.hold(account, request, key);
    const settle = () => this.settle(hold.id, hold.used, `${key} end`);
    let result: Result;
    try {
      result = await work(hold);
    } catch (failure) {
      const ended = hold.used === undefined ? this.release(hold.id, `${key} end`) : settle();
      await ended.catch((second) => {
        throw new AggregateError([failure, second], "The work failed, and then the end of its hold.");
      });
      throw failure;
    }
    await settle();
    return result;
  }

  /** Gives a spend back, or a part of it. */
  reverse(entry: string, reversal: { credits?: Amount; reason: string }, key?: string): Promise<Entry> {
    return this.call("id", path`/v1/entries/${entry}/reverse`, reversal, key);
  }

  /** Sets your own name for an account, which no other has; null takes it away. */
  setReference(account: string, reference: string | null, key?: string): Promise<Account> {
    return this.call("id", path`/v1/accounts/${account}/reference`, { reference }, key);
  }

  /** Spends many times, each for itself: what came of each is in its place. A thousand are one request. */
  async spendEach(
    spends: (Spend & { account: string })[],
    key: string = randomUUID(),
  ): Promise<(Entry | { error: Failure })[]> {
    const results: (Entry | { error: Failure })[] = [];
    for (let at = 0; at < spends.length; at += pageSize) {
      const part = { spends: spends.slice(at, at + pageSize) };
      const answer: { results: Entry[] } = await this.call("results", "/v1/batches", part, `${key} ${at}`);
      results.push(...answer.results);
    }
    return results;
  }

  /** Spends up to a thousand times, all or nothing. */
  async spendAll(spends: (Spend & { account: string })[], key?: string): Promise<Entry[]> {
    const answer: { results: Entry[] } = await this.call(
      "results",
      "/v1/batches",
      { spends, all: true },
      key,
    );
    return answer.results;
  }

  private async *pages<Item>(field: string, filter: AccountFilter = {}): AsyncGenerator<Item> {
    for (let after: string | null = ""; after !== null; ) {
      const query = new URLSearchParams({ ...filter, after, limit: String(pageSize) });
      const page: { next: string | null; [field: string]: unknown } = await this.call(
        field,
        `/v1/${field}?${query}`,
      );
      yield* page[field] as Item[];
      after = page.next;
    }
  }

  private async *follow<Item extends { id: string }>(
    field: string,
    list: string,
    after = "",
  ): AsyncGenerator<Item> {
    for (let last: Item | undefined; ; after = last.id) {
      const query = new URLSearchParams({ after, limit: String(pageSize) });
      const page: Record<string, Item[]> = await this.call(field, `${list}?${query}`);
      const items = page[field] ?? [];
      yield* items;
      last = items.at(-1);
      if (!last) return;
    }
  }

  /** Sends a request until the service has answered with this field, or refused. */
  private async call<Answer>(
    field: string,
    address: string,
    fields?: object,
    key: string = randomUUID(),
  ): Promise<Answer> {
    const endsAtMs = performance.now() + this.patienceSeconds * 1000;
    const body = fields && JSON.stringify(fields); // the same bytes each time, because the same key demands them
    let isClockKnown = false;
    for (let attempt = 0; ; attempt++) {
      const { status, answer, retryAfter, clockOffsetMs } = await this.send(address, body, key);
      if (status === 200 && answer[field] !== undefined) return answer as Answer;
      const code = answer.error?.code;
      if (
        code === "invalid_assertion" &&
        !isClockKnown &&
        Math.abs(clockOffsetMs - this.clockOffsetMs) > 2000
      ) {
        this.clockOffsetMs = clockOffsetMs;
        isClockKnown = true; // once: with the time of the service the assertion is right, or something else is wrong
        continue;
      }
      const isForNow = retryAfter > 0 || [408, 429, 500, 502, 503, 504].includes(status);
      if (typeof code === "string" && code && (!isForNow || code === "not_configured"))
        throw new Refused(status, answer);
      const seconds =
        Math.max(retryAfter, Math.min(2 ** attempt / 4, maxBackoffSeconds)) * (1 + Math.random() / 5);
      if (performance.now() + seconds * 1000 > endsAtMs) {
        throw new Outage(
          `No answer: ${status} ${code ?? ""}. Try again in ${Math.ceil(seconds)} seconds or later.`,
          key,
        );
      }
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    }
  }

  /** Sends a request once. Status 0: nothing came back that can be an answer of the service, such as a redirect. */
  private async send(address: string, body: string | undefined, key: string) {
    const headers = new Headers({ authorization: `Bearer ${this.signAssertion()}` });
    if (body !== undefined) headers.set("content-type", "application/json");
    if (body !== undefined) headers.set("idempotency-key", key);
    try {
      const response = await fetch(this.url + address, {
        ...(body !== undefined && { method: "POST", body }),
        headers,
        redirect: "manual", // it would take the assertion to another host
        signal: AbortSignal.timeout(timeoutMs),
      });
      if (response.status >= 300 && response.status < 400) throw new Error("a redirect");
      const answer = Object(JSON.parse(await response.text()));
      const retryAfter = Number(response.headers.get("retry-after")) || 0; // a date counts as none
      const clockOffsetMs = Date.parse(response.headers.get("date") ?? "") - Date.now();
      return { status: response.status, answer, retryAfter, clockOffsetMs };
    } catch {
      return { status: 0, answer: Object(), retryAfter: 0, clockOffsetMs: 0 };
    }
  }

  /** A JWT (RFC 7519) of a minute, which each attempt needs anew. */
  private signAssertion(): string {
    const isEd25519 = this.key.asymmetricKeyType === "ed25519";
    const exp = Math.floor((Date.now() + this.clockOffsetMs) / 1000) + assertionSeconds;
    const text = [{ alg: isEd25519 ? "EdDSA" : "ES256" }, { iss: this.backend, aud: this.audience, exp }]
      .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
      .join(".");
    const key = { key: this.key, dsaEncoding: "ieee-p1363" } as const; // RFC 7518 §3.4
    return `${text}.${sign(isEd25519 ? null : "sha256", Buffer.from(text), key).toString("base64url")}`;
  }
}

/** A path with ids in it. */
function path(parts: TemplateStringsArray, ...ids: string[]): string {
  return String.raw({ raw: parts }, ...ids.map(encodeURIComponent));
}
