/** The common part of the desktop and the phone file: valid both as TypeScript and as JavaScript. */
export const connectionBase = `
/** Keeps and renews the session token of an app that its owner has approved. */
export class Connection {
  token = "";
  renewAtMs = 0; // a minute before the token expires
  turn = Promise.resolve("");
  url;
  clientId;
  vault;

  /** vault stores one refresh token where the system stores passwords; read returns "" if there is none. */
  constructor(url = "", clientId = "", vault = { read: async () => "", write: async (refreshToken = "") => {} }) {
    this.url = url;
    this.clientId = clientId;
    this.vault = vault;
  }

  /** Returns the session token, or "" if the owner has to approve first. Throws during an outage: try again later. */
  readToken(nowMs = Date.now()) {
    // One at a time, so that the newest refresh token is the one that is kept.
    const next = () => (nowMs < this.renewAtMs ? this.token : this.renew(nowMs));
    this.turn = this.turn.then(next, next);
    return this.turn;
  }

  async renew(nowMs = 0) {
    const refresh_token = await this.vault.read();
    if (refresh_token === "") return "";
    return this.fetchToken({ grant_type: "refresh_token", refresh_token }, nowMs);
  }

  async fetchToken(fields = {}, nowMs = 0) {
    const response = await fetch(this.url + "/oauth/token", {
      method: "POST",
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ client_id: this.clientId, ...fields }).toString(),
      signal: AbortSignal.timeout(10_000),
    });
    const answer = JSON.parse(await response.text());
    if (answer.error === "invalid_grant") {
      await this.vault.write(""); // ended by the owner or the operator, or after its week
      return (this.token = "");
    }
    if (!response.ok) throw new Error("No token now: " + response.status);
    await this.vault.write(answer.refresh_token);
    this.token = answer.access_token;
    this.renewAtMs = nowMs + (answer.expires_in - 60) * 1000;
    return this.token;
  }`;
