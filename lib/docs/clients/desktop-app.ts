import { connectionBase } from "@/lib/docs/clients/connection";

/** A desktop app that its owner approves in a browser. `tests/lib/docs/connect-samples.test.ts` runs it. */
export const desktopApp = `
// Valid as TypeScript, and as JavaScript on Node 20 and newer and in Electron's main process.
import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
${connectionBase}

  /** Asks for approval in the owner's browser. Throws if they decline or do not answer within 15 minutes. */
  async connect(openBrowser = async (address = "") => {}) {
    const server = createServer();
    await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve("")));
    const redirect_uri = "http://127.0.0.1:" + Object(server.address()).port + "/callback";
    const code_verifier = randomBytes(32).toString("base64url");
    const state = randomBytes(16).toString("base64url");
    const query = new URLSearchParams({
      client_id: this.clientId,
      response_type: "code",
      scope: "account:read",
      redirect_uri,
      state,
      code_challenge: createHash("sha256").update(code_verifier).digest("base64url"),
      code_challenge_method: "S256",
    });
    const answered = new Promise((resolve, reject) => {
      AbortSignal.timeout(15 * 60_000).onabort = () => reject(new Error("The owner did not answer."));
      server.on("request", (request, response) => {
        const { pathname, search, searchParams } = new URL(request.url ?? "", redirect_uri);
        // Other programs can call this port, but do not know the state.
        if (pathname !== "/callback" || searchParams.get("state") !== state) {
          return response.writeHead(404).end();
        }
        response.setHeader("Connection", "close").end("Done. You can close this window.");
        resolve(search);
      });
    });
    try {
      await openBrowser(this.url + "/oauth/authorize?" + query);
      const answer = new URLSearchParams(String(await answered));
      if (answer.get("iss") !== this.url) throw new Error("The answer is from another service."); // RFC 9207
      const code = answer.get("code");
      if (!code) throw new Error(answer.get("error_description") ?? "The owner declined.");
      return await this.fetchToken(
        { grant_type: "authorization_code", code, redirect_uri, code_verifier },
        Date.now(),
      );
    } finally {
      server.close();
    }
  }
}

// This vault is only in memory. In your app, use the system's keychain, credential manager or secret service.
let kept = "";
const vault = { read: async () => kept, write: async (refreshToken = "") => void (kept = refreshToken) };

const connection = new Connection(process.env.CORNER_OFFICE_URL, "native", vault);
if ((await connection.readToken()) === "") {
  await connection.connect(async (address) => console.log("Open this in your browser:\\n" + address));
}
const response = await fetch(connection.url + "/api/entitlement", {
  headers: { Authorization: "Bearer " + (await connection.readToken()) },
});
console.log(await response.text());
`;
