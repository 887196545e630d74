import { connectionBase } from "@/lib/docs/clients/connection";

/** A phone app that its owner approves, with its own URL scheme. `tests/lib/docs/connect-samples.test.ts` runs it. */
export const phoneApp = `
// Valid as TypeScript and as JavaScript, for React Native, Expo and Capacitor. It needs fetch and Web Crypto.
// In Expo: await connection.connect("com.example.studio:/signed-in", async (address, redirectUri) =>
//   Object(await WebBrowser.openAuthSessionAsync(address, redirectUri)).url ?? "");
${connectionBase}

  /**
   * Asks for approval in the system's browser: openBrowser opens a URL, and returns the one that the app's own scheme
   * receives. Throws if the owner declines.
   */
  async connect(redirect_uri = "", openBrowser = async (address = "", redirectUri = "") => "") {
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
    const back = await openBrowser(this.url + "/oauth/authorize?" + query, redirect_uri);
    const answer = new URLSearchParams(back.slice(back.indexOf("?") + 1));
    // Any app can open our scheme: accept only an answer to this request from this service.
    if (answer.get("state") !== state || answer.get("iss") !== this.url) throw new Error("The answer is not for this request.");
    const code = answer.get("code");
    if (!code) throw new Error(answer.get("error_description") ?? "The owner declined.");
    return this.fetchToken({ grant_type: "authorization_code", code, redirect_uri, code_verifier }, Date.now());
  }
}

function base64url(bytes = new Uint8Array()) {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
`;
