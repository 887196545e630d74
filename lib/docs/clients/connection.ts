/** What the desktop's and the phone's file have in common: valid TypeScript, and JavaScript as it stands. */
export const connectionBase = `
/** Keeps the session token of an app that its owner has let in, and renews it by itself. */
export class Connection {
  token = "";
  renewAtMs = 0; // a minute before the token is over
  turn = Promise.resolve("");
  url;
  clientId;
  vault;

  /** vault keeps one refresh token where the system keeps passwords; read answers "" where there is none. */
  constructor(url = "", clientId = "", vault = { read: async () => "", write: async (refreshToken = "") => {} }) {
    this.url = url;
    this.clientId = clientId;
    this.vault = vault;
  }

  /** The session token to send; "" when the owner has to be asked. Throws while nobody can tell: try again later. */
  readToken(nowMs = Date.now()) {
    // One at a time: a refresh token is good once, and one that comes twice ends the connection.
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
      await this.vault.write(""); // ended: by its owner, by the operator, or after its week
      return (this.token = "");
    }
    if (!response.ok) throw new Error("No token now: " + response.status);
    await this.vault.write(answer.refresh_token);
    this.token = answer.access_token;
    this.renewAtMs = nowMs + (answer.expires_in - 60) * 1000;
    return this.token;
  }`;
