// The loop of the client 1.1.0 as it was published, which is in apps: all that it reads of an entitlement.
const secondsAfterNo = 600; // asks again, because the owner may have chosen a plan
const maxSecondsAfterFault = 300;
const maxSeconds = 3600; // no answer is good for longer, and no timer waits longer

const maxCharacters = 65_536; // an answer has fewer than a thousand

/** Sends a request. What is no answer of the service, such as a redirect or a proxy's page, comes back as {}. */
async function fetchJson(url = "", options = {}) {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), 10_000);
  try {
    // A redirect would take the token to another host.
    const response = await fetch(url, { ...options, redirect: "error", signal: abort.signal });
    const seconds = Number.parseInt(response.headers.get("Retry-After") ?? "", 10) || 0; // no date
    const retryAfter = Math.min(seconds, maxSeconds);
    return { status: response.status, answer: Object(JSON.parse(await readText(response))), retryAfter };
  } catch {
    return { status: 0, answer: Object(), retryAfter: 0 };
  } finally {
    clearTimeout(timer);
    abort.abort();
  }
}

async function readText(response = new Response()) {
  const reader = response.body?.getReader();
  if (!reader) return response.text(); // React Native has no streams
  const decoder = new TextDecoder();
  let text = "";
  while (text.length < maxCharacters) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
  }
  throw new Error("The answer is too long.");
}

// --- The loop ---

/** Tracks whether the company may run and when to ask again. Run while mayRun() is true; otherwise show why. */
export class CompanyGate {
  why = "not_asked";
  yesUntilMs = 0; // by a monotonic clock; the last yes is valid until then, even during an outage
  faults = 0;
  deadToken = "";
  isEnded = false;
  wake = () => {};
  url;
  readToken;

  /**
   * readToken returns the session token, or "" if a person has to sign in first. It throws during an outage. It gets
   * the token that no longer works, to renew it.
   */
  constructor(url = "", readToken = async (_deadToken = "") => "") {
    this.url = url;
    this.readToken = readToken;
  }

  mayRun(nowMs = performance.now()) {
    return nowMs < this.yesUntilMs;
  }

  /** Asks until end() is called. Call wake() to ask at once: after a sign-in, and when the machine wakes up. */
  async keepAsking(onAnswer = () => {}) {
    while (!this.isEnded) {
      const woken = new Promise((resolve) => (this.wake = () => resolve(0)));
      const seconds = await this.ask();
      onAnswer();
      // A timer of Infinity would fire after 1 ms. Asking about a dead token sends nothing.
      const timer = setTimeout(this.wake, Math.min(seconds, maxSeconds) * 1000);
      if (!this.isEnded) await woken;
      clearTimeout(timer);
    }
  }

  end() {
    this.isEnded = true;
    this.wake();
  }

  /** Asks once. Returns the seconds until the next call; Infinity: call again after a new sign-in. */
  async ask(nowMs = performance.now()) {
    for (let attempt = 1; ; attempt++) {
      let token = "";
      try {
        token = await this.readToken(this.deadToken);
      } catch {
        return this.hold("unreachable", 0, nowMs);
      }
      if (token === "" || token === this.deadToken) return this.stop("signed_out", Infinity);
      const headers = { Authorization: `Bearer ${token}` };
      const { status, answer, retryAfter } = await fetchJson(`${this.url}/api/entitlement`, { headers });
      const recheckSeconds = Number.isFinite(answer.recheckAfterSeconds)
        ? Math.min(answer.recheckAfterSeconds, maxSeconds)
        : 0;
      if (status === 200 && answer.ok === true && recheckSeconds > 0) {
        this.why = String(answer.status);
        this.faults = 0;
        this.yesUntilMs = nowMs + recheckSeconds * 1000;
        return Math.max(1, recheckSeconds * (0.9 + Math.random() * 0.1)); // a little early, never late
      }
      const code = answer.error?.code;
      if (typeof code !== "string" || code === "") return this.hold("unreachable", retryAfter, nowMs); // not the service's answer
      if (status === 401) {
        this.deadToken = token; // it never works again, perhaps before it expires: one attempt to renew it
        if (attempt === 1) continue;
        return this.stop(code, Infinity);
      }
      if (status === 403 || code === "not_configured") {
        return this.stop(code, secondsAfterNo * (1 + Math.random() * 0.1));
      }
      return this.hold(code, retryAfter, nowMs);
    }
  }

  /** 429, 502, 503, no network or no JSON are not refusals: the last yes stays valid until it expires. */
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
}
