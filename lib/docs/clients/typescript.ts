/** A complete client, valid as TypeScript and as JavaScript. `tests/lib/docs/clients.test.ts` runs it. */
export const typescriptClient = `
// Valid as TypeScript, and as JavaScript on Node 20 and newer, Deno, Bun and in browsers.

const secondsAfterNo = 600; // asks again, because the owner may have chosen a plan
const maxSecondsAfterFault = 300;

/** Tracks whether the company may run and when to ask again. Run while mayRun() is true; otherwise show why. */
export class CompanyGate {
  why = "not_asked";
  yesUntilMs = 0; // by a monotonic clock; the last yes is valid until then, even during an outage
  faults = 0;
  deadToken = "";
  url;
  readToken;

  /** readToken returns the session token, or "" if a person has to sign in first. It throws during an outage. */
  constructor(url = "", readToken = async () => "") {
    this.url = url;
    this.readToken = readToken;
  }

  mayRun(nowMs = performance.now()) {
    return nowMs < this.yesUntilMs;
  }

  /** Asks once. Returns the seconds until the next call; Infinity: call again after a new sign-in. */
  async ask(nowMs = performance.now()) {
    let token = "";
    try {
      token = await this.readToken();
    } catch {
      return this.hold("unreachable", 0, nowMs);
    }
    if (token === "" || token === this.deadToken) return this.stop("signed_out", Infinity);
    const { status, answer, retryAfter } = await this.fetchEntitlement(token);
    if (status === 200 && answer.ok === true) {
      this.why = answer.status;
      this.faults = 0;
      this.yesUntilMs = nowMs + answer.recheckAfterSeconds * 1000;
      return Math.max(1, answer.recheckAfterSeconds * (0.9 + Math.random() * 0.1)); // a little early, never late
    }
    const code = answer.error?.code ?? "unreachable";
    if (status === 401) {
      this.deadToken = token; // this token never works again: have the owner sign in
      return this.stop(code, Infinity);
    }
    if (status === 403 || code === "not_configured") {
      return this.stop(code, secondsAfterNo * (1 + Math.random() * 0.1));
    }
    return this.hold(code, retryAfter, nowMs);
  }

  /** 429, 503, no network or no JSON are not refusals: the last yes stays valid until it expires. */
  hold(code = "", retryAfter = 0, nowMs = 0) {
    if (!this.mayRun(nowMs)) this.why = code;
    const backoff = Math.min(maxSecondsAfterFault, 5 * 2 ** this.faults++);
    return Math.max(retryAfter, backoff) * (1 + Math.random() * 0.2);
  }

  stop(why = "", seconds = 0) {
    this.why = why;
    this.faults = 0;
    this.yesUntilMs = 0;
    return seconds;
  }

  async fetchEntitlement(token = "") {
    try {
      const response = await fetch(this.url + "/api/entitlement", {
        headers: { Authorization: "Bearer " + token },
        signal: AbortSignal.timeout(10_000),
      });
      const retryAfter = Number(response.headers.get("Retry-After")) || 0;
      const answer = JSON.parse(await response.text());
      return { status: response.status, answer, retryAfter };
    } catch {
      return { status: 0, answer: JSON.parse("{}"), retryAfter: 0 };
    }
  }
}

const { CORNER_OFFICE_URL = "", CORNER_OFFICE_TOKEN = "" } = process.env;
const gate = new CompanyGate(CORNER_OFFICE_URL, async () => CORNER_OFFICE_TOKEN);
const seconds = await gate.ask(); // an app asks again after this many seconds, and when it wakes up
console.log(gate.mayRun() ? "run" : "wait", gate.why, seconds);
`;
