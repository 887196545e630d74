// Corner Office client 1.4.0. Valid as TypeScript, and as JavaScript: then name it corner-office.mjs.
// For Node 20.16 and newer, Electron's main process, React Native, Expo, and Capacitor with CapacitorHttp enabled: a web
// view cannot read answers that have no CORS headers. Nothing else to install.

const secondsAfterNo = 600; // asks again, because the owner may have chosen a plan
const maxSecondsAfterFault = 300;
const maxSeconds = 3600; // no answer is good for longer, and no timer waits longer

const maxCharacters = 65_536; // an answer has far fewer

/** What an app passes in. As methods, so that TypeScript takes it with parameters of type string. */
const passedIn = {
  async readToken(_deadToken = "") {
    return "";
  },
  async openBrowser(_address = "", _redirectUri = "") {
    return "";
  },
  openPage(_address = "") {
    return Object();
  },
  vault: {
    async read() {
      return "";
    },
    write(_refreshToken = "") {
      return Object();
    },
    // It may be left out.
    ...(Boolean() && {
      async openKey() {
        return Object();
      },
    }),
  },
};

/**
 * Sends a request, with the headers for a nonce. A service whose clock differs sends one, for another attempt. What is no
 * answer of the service, such as a redirect or a proxy's page, comes back as {}.
 */
async function fetchJson(url = "", options = {}, headersFor = async (_nonce = "") => Object()) {
  const first = await send(url, options, headersFor);
  if (first.nonce === "") return first;
  nonce = first.nonce;
  return send(url, options, headersFor);
}

let nonce = "";

async function send(url = "", options = Object(), headersFor = async (_nonce = "") => Object()) {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), 10_000);
  try {
    // A redirect would take the token to another host.
    const headers = { ...options.headers, ...(await headersFor(nonce)) };
    const response = await fetch(url, { ...options, headers, redirect: "error", signal: abort.signal });
    const seconds = Number.parseInt(response.headers.get("Retry-After") ?? "", 10) || 0; // no date
    const retryAfter = Math.min(seconds, maxSeconds);
    const answer = Object(JSON.parse(await readText(response)));
    return { status: response.status, answer, retryAfter, nonce: response.headers.get("DPoP-Nonce") ?? "" };
  } catch {
    return { status: 0, answer: Object(), retryAfter: 0, nonce: "" };
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
  plan = ""; // the name of what the owner has; features and limits say what is in it
  features = [""].slice(1);
  limits = new Map();
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
  constructor(url = "", readToken = passedIn.readToken) {
    this.url = url;
    this.readToken = readToken;
  }

  mayRun(nowMs = performance.now()) {
    return nowMs < this.yesUntilMs;
  }

  /** Whether the plan has a feature, and the company may run. */
  has(feature = "", nowMs = performance.now()) {
    return this.mayRun(nowMs) && this.features.includes(feature);
  }

  /** The most that the plan allows: Infinity for what it does not limit, and 0 while the company may not run. */
  limit(name = "", nowMs = performance.now()) {
    const most = this.limits.get(name) ?? Infinity;
    return this.mayRun(nowMs) && typeof most === "number" ? most : 0;
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
      const address = `${this.url}/api/entitlement`;
      const authorization = (nonce = "") => authorize(token, "GET", address, nonce);
      const { status, answer, retryAfter } = await fetchJson(address, {}, authorization);
      const recheckSeconds = Number.isFinite(answer.recheckAfterSeconds)
        ? Math.min(answer.recheckAfterSeconds, maxSeconds)
        : 0;
      if (status === 200 && answer.ok === true && recheckSeconds > 0) {
        this.why = String(answer.status);
        this.keepContents(answer);
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

  /** Services before plans send none of this, and only assistantLimit. */
  keepContents(answer = Object()) {
    this.plan = typeof answer.plan === "string" ? answer.plan : "";
    this.features = Array.isArray(answer.features) ? answer.features : [];
    this.limits = new Map(Object.entries({ assistants: answer.assistantLimit, ...Object(answer.limits) }));
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

// --- The key ---

/**
 * The headers of a request with a session token, also of one to your own server. A token that is bound to this app's key
 * needs a proof for each (DPoP, RFC 9449); so a copy of it is worth nothing elsewhere.
 */
export async function authorize(token = "", method = "GET", url = "", nonce = "") {
  const key = boundTokens.get(token);
  if (!key) return { Authorization: `Bearer ${token}` };
  return { Authorization: `DPoP ${token}`, DPoP: await prove(key, method, url, nonce, token) };
}

const boundTokens = new Map(); // and the key of each

async function prove(key = Object(), method = "", url = "", nonce = "", token = "") {
  const { kty, crv, x, y } = key.jwk;
  const header = { typ: "dpop+jwt", alg: "ES256", jwk: { kty, crv, x, y } };
  const claims = {
    jti: base64url(crypto.getRandomValues(new Uint8Array(16))),
    htm: method,
    htu: url.replace(/[?#].*/s, ""),
    iat: Math.floor(Date.now() / 1000),
    ...(token && { ath: base64url(new Uint8Array(await crypto.subtle.digest("SHA-256", encode(token)))) }),
    ...(nonce && { nonce }),
  };
  const signed = [header, claims].map((part) => base64url(encode(JSON.stringify(part)))).join(".");
  const by = { name: "ECDSA", hash: "SHA-256" };
  const signature = await crypto.subtle.sign(by, key.privateKey, encode(signed));
  return `${signed}.${base64url(new Uint8Array(signature))}`;
}

const encode = (text = "") => new TextEncoder().encode(text);
const keyType = { name: "ECDSA", namedCurve: "P-256" };

/** This app's key in a browser's store, from which no script can take it; null where there is none. */
async function openBrowserKey() {
  const { indexedDB, crypto } = Object(globalThis); // not every project knows a browser's types
  if (!indexedDB || !crypto?.subtle) return null;
  const asked = (request = Object()) =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  const opening = indexedDB.open("corner-office", 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore("keys");
  const store = Object(await asked(opening));
  const keys = (mode = "readonly") => store.transaction("keys", mode).objectStore("keys");
  try {
    const pair = Object(await crypto.subtle.generateKey(keyType, false, ["sign"]));
    const made = { privateKey: pair.privateKey, jwk: await crypto.subtle.exportKey("jwk", pair.publicKey) };
    const known = await asked(keys().get("key"));
    if (known) return known;
    await asked(keys("readwrite").add(made, "key")).catch(() => {}); // another page was first
    return await asked(keys().get("key"));
  } finally {
    store.close();
  }
}

function base64url(bytes = new Uint8Array()) {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

// --- The connection ---

/** Keeps and renews the session token of an app that its owner has approved. */
export class Connection {
  token = "";
  renewAtMs = 0; // a minute before the token expires, by a monotonic clock
  turn = Promise.resolve("");
  url;
  clientId;
  vault;

  /**
   * vault stores one refresh token where the system stores passwords; read returns "" if there is none. If it keeps a key
   * too, its openKey returns that. Tokens are then bound to the key, as in a browser; else anyone can use a copy of them.
   */
  constructor(url = "", clientId = "", vault = passedIn.vault) {
    this.url = url;
    this.clientId = clientId;
    this.vault = vault;
  }

  /** Returns the session token, or "" if the owner has to approve first. Throws during an outage: try again later. */
  readToken = (deadToken = "", nowMs = performance.now()) => {
    // One at a time, so that the newest refresh token is kept. A token that was refused is not used again.
    const next = () => (this.token !== deadToken && nowMs < this.renewAtMs ? this.token : this.renew(nowMs));
    this.turn = this.turn.then(next, next);
    return this.turn;
  };

  async renew(nowMs = 0) {
    const refresh_token = await this.vault.read();
    if (refresh_token === "") return "";
    return this.fetchToken({ grant_type: "refresh_token", refresh_token }, nowMs);
  }

  async fetchToken(fields = {}, nowMs = performance.now()) {
    const address = `${this.url}/oauth/token`;
    const key = await (this.vault.openKey?.() ?? openBrowserKey());
    const proof = async (nonce = "") => key && { DPoP: await prove(key, "POST", address, nonce) };
    const request = {
      method: "POST",
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ client_id: this.clientId, ...fields }).toString(),
    };
    const { status, answer } = await fetchJson(address, request, proof);
    if (status === 400 && answer.error === "invalid_grant") {
      await this.vault.write(""); // ended by the owner or the operator, or because it was not used
      this.renewAtMs = 0;
      this.token = "";
      return "";
    }
    const { access_token, refresh_token, expires_in } = answer;
    const isComplete = [access_token, refresh_token].every((text) => text && typeof text === "string");
    if (status !== 200 || !isComplete) {
      throw new Error(`No token now: ${status}`);
    }
    await this.vault.write(refresh_token);
    boundTokens.delete(this.token);
    // A service before this version binds to no key.
    if (key && /^dpop$/i.test(answer.token_type)) boundTokens.set(access_token, key);
    this.renewAtMs = nowMs + (Math.min(Number(expires_in) || 0, maxSeconds) - 60) * 1000;
    this.token = access_token;
    return access_token;
  }

  // --- Approval ---

  /**
   * Asks for approval in the system's browser: openBrowser opens a URL, and returns the one that redirectUri receives.
   * Throws if the owner declines, or it returns "" because they closed the browser.
   */
  async connect(redirect_uri = "", openBrowser = passedIn.openBrowser) {
    const code_verifier = base64url(crypto.getRandomValues(new Uint8Array(32)));
    const state = base64url(crypto.getRandomValues(new Uint8Array(16)));
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(code_verifier));
    const query = new URLSearchParams({
      client_id: this.clientId,
      response_type: "code",
      scope: "account:read",
      redirect_uri,
      state,
      code_challenge: base64url(new Uint8Array(digest)),
      code_challenge_method: "S256",
    });
    const back = await openBrowser(`${this.url}/oauth/authorize?${query}`, redirect_uri);
    if (back === "") throw new Error("The browser was closed.");
    const answer = new URLSearchParams(back.slice(back.indexOf("?") + 1));
    // Any app can open our scheme: accept only an answer to this request from this service (RFC 9207).
    if (answer.get("state") !== state || answer.get("iss") !== this.url) {
      throw new Error("The answer is not for this request.");
    }
    const code = answer.get("code");
    if (!code) throw new Error(answer.get("error_description") ?? "The owner declined.");
    return this.fetchToken({ grant_type: "authorization_code", code, redirect_uri, code_verifier });
  }
}

// --- On a computer ---

// On a computer only. An import would take Node's modules, and their types, into a phone app.
const ofNode = (name = "") => Object(globalThis).process.getBuiltinModule(name);

/** Asks for approval in the owner's browser, at a loopback address (RFC 8252 §7.3), within 15 minutes. */
export async function connectOnDesktop(connection = new Connection(), openBrowser = passedIn.openPage) {
  const server = ofNode("node:http").createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(0)));
  const redirectUri = `http://127.0.0.1:${Object(server.address()).port}/callback`;
  const waitForAnswer = async (address = "") => {
    const state = new URL(address).searchParams.get("state");
    const answered = new Promise((resolve, reject) => {
      AbortSignal.timeout(15 * 60_000).onabort = () => reject(new Error("The owner did not answer."));
      server.on("request", (request = Object(), response = Object()) => {
        const path = URL.canParse(request.url ?? "", redirectUri) ? request.url : "/";
        const { href, pathname, searchParams } = new URL(path ?? "", redirectUri);
        // Other programs can call this port, but do not know the state.
        if (pathname !== "/callback" || searchParams.get("state") !== state) {
          response.writeHead(404).end();
        } else {
          response.setHeader("Connection", "close").end("Done. You can close this window.");
          resolve(href);
        }
      });
    });
    await openBrowser(address);
    return String(await answered);
  };
  try {
    return await connection.connect(redirectUri, waitForAnswer);
  } finally {
    server.close();
  }
}

/**
 * A vault in a file that only this user may read, and the app's key in another. In Electron, encrypt what it stores with
 * safeStorage.
 */
export class FileVault {
  path;

  constructor(path = "") {
    this.path = path;
  }

  async read() {
    const { readFile } = ofNode("node:fs/promises");
    return readFile(this.path, "utf8").catch((failure = Object()) => {
      if (failure.code === "ENOENT") return "";
      throw failure;
    });
  }

  async write(refreshToken = "") {
    const { rename, writeFile } = ofNode("node:fs/promises");
    const made = `${this.path}.${crypto.randomUUID()}`; // another process may write too
    await writeFile(made, refreshToken, { mode: 0o600 });
    await rename(made, this.path); // all or nothing
  }

  /** The key is made on first use, by whichever process is first. */
  async openKey() {
    const { access, link, readFile, rename, rm, writeFile } = ofNode("node:fs/promises");
    const path = `${this.path}.key`;
    const isThere = await access(path).then(
      () => true,
      () => false,
    );
    if (!isThere) {
      const pair = Object(await crypto.subtle.generateKey(keyType, true, ["sign"]));
      const made = `${path}.${crypto.randomUUID()}`;
      await writeFile(made, JSON.stringify(await crypto.subtle.exportKey("jwk", pair.privateKey)), {
        mode: 0o600,
      });
      // Android and some drives have no links.
      await link(made, path).catch((failure = Object()) =>
        failure.code === "EEXIST" ? undefined : rename(made, path),
      );
      await rm(made, { force: true });
    }
    const jwk = JSON.parse(await readFile(path, "utf8"));
    return { jwk, privateKey: await crypto.subtle.importKey("jwk", jwk, keyType, false, ["sign"]) };
  }
}
