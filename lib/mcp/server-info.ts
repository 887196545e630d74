import { settings } from "@/lib/config/settings";
import { sessionLimits } from "@/lib/docs/words";
import { files } from "@/lib/http/register/files";

/** The server's name, version and icons. */
export function describeServer() {
  const { appUrl } = settings();
  return {
    name: "corner-office",
    title: "Corner Office",
    version: "1.0.0",
    websiteUrl: appUrl,
    icons: [
      { src: appUrl + files.touchIcon.path, mimeType: "image/png", sizes: ["180x180"] },
      { src: appUrl + files.vectorIcon.path, mimeType: "image/svg+xml", sizes: ["any"] },
    ],
  };
}

/** The instructions that a client gives its model. */
export const instructions = `Corner Office is where a person, the CEO, runs a company of AI assistants. This server is read-only: none of its tools changes anything.

- For questions about the HTTP API, its error codes, limits or versions, use search_docs first, then get_doc for the whole text.
- get_health, get_site_banner and the documents need no sign-in. get_entitlement and get_credits_balance read an account: on the first call the client asks its owner to approve in a browser, and then keeps its own token.
- ${sessionLimits} Do not offer them.
- Never put a token into a chat, an issue or a log. Never ask for one in the conversation, and never repeat one.
- After a 429, wait for as many seconds as it says.`;
