import { connectionBase } from "@/lib/docs/clients/connection";

/** A phone app that its owner lets in, answered at its own scheme. `tests/lib/docs/connect-samples.test.ts` runs it. */
export const phoneApp = `
// TypeScript, and JavaScript as it stands: React Native, Expo, Capacitor. It needs fetch and Web Crypto.
// In Expo: await connection.connect("com.example.studio:/signed-in", async (address, redirectUri) =>
//   Object(await WebBrowser.openAuthSessionAsync(address, redirectUri)).url ?? "");
${connectionBase}

  /**
   * Asks the owner, in the system's browser: openBrowser shows an address and answers the one that comes back at the
   * app's own scheme. Throws when they decline.
   */
  async connect(redirect_uri = "", openBrowser = async (address = "", redirectUri = "") => "") {
    const code_verifier = base64url(crypto.getRandomValues(new Uint8Array(32)));
    const state = base64url(crypto.getRandomValues(new Uint8Array(16)));
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(code_verifier));
    const question = new URLSearchParams({
      client_id: this.clientId,
      response_type: "code",
      scope: "account:read",
      redirect_uri,
      state,
      code_challenge: base64url(new Uint8Array(digest)),
      code_challenge_method: "S256",
    });
    const back = await openBrowser(this.url + "/oauth/authorize?" + question, redirect_uri);
    const answer = new URLSearchParams(back.slice(back.indexOf("?") + 1));
    // Any app can open our scheme: only an answer to this question, and from this service, counts.
    if (answer.get("state") !== state || answer.get("iss") !== this.url) throw new Error("Somebody else answered.");
    const code = answer.get("code");
    if (!code) throw new Error(answer.get("error_description") ?? "The owner said no.");
    return this.fetchToken({ grant_type: "authorization_code", code, redirect_uri, code_verifier }, Date.now());
  }
}

function base64url(bytes = new Uint8Array()) {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
`;
