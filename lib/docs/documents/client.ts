import { readParts } from "@/lib/docs/client-files";
import type { DocumentText } from "@/lib/docs/document";
import { code, to, toCode } from "@/lib/docs/markdown";
import { sessionLimits } from "@/lib/docs/words";
import { clientFiles, clientVersion } from "@/lib/http/register/publications";

const loop = `
            +--------- before recheckAfterSeconds ----------+
            v                                               |
          [ ask ] -- 200, ok: true --------------------> [ run ]
          [     ] -- 429, 503, no network, no JSON ----> [ keep running until the last yes expires ]
          [     ] -- 403, not_configured --------------> [ stop, and say why ]
          [     ] -- 401 ------------------------------> [ sign in again ]
            ^                                               |
            +--- Retry-After, a little later; a new token --+`;

const download = ({ path }: { path: string }) => `[${path.split("/").at(-1)}](${path})`;

/** The loop that an app needs, as one tested file per language. */
export const client: DocumentText = {
  title: "A complete client",
  group: "Start",
  summary: "The SDK: one tested file each for TypeScript, Python, Swift and Kotlin.",
  markdown:
    () => `An app checks whether its company may run, and keeps checking. One file per language does that, with nothing to install: the loop, the sign-in, the renewal of the token, and the place to keep it.

| Language | Version ${clientVersion} | Approval | Keeps the refresh token in |
| --- | --- | --- | --- |
| TypeScript and JavaScript | ${download(clientFiles.typescript)} | at a loopback address, or at the app's own scheme | a file of its user, or where you tell it; its key in another file, or in a browser's store |
| Python | ${download(clientFiles.python)} | with a code | a file of its user, and its key in another |
| Swift | ${download(clientFiles.swift)} | at the app's own scheme | the keychain, its key in the Secure Enclave |
| Kotlin | ${download(clientFiles.kotlin)} | at the app's own scheme | the keystore, with its key |

Keep the file in your own source. Its address names its version; once there is a newer one, the address of an earlier one leads there (\`302\`).

The Swift file is for Apple's systems. Our tests run its loop and renewal on Linux too; there, Foundation without the correction of [swift-corelibs-foundation#5285](https://github.com/swiftlang/swift-corelibs-foundation/issues/5285) ends the program at an answer that breaks off before its headers end, so let a supervisor start it again.

The files have no other dependency: this is the SDK. [Generate a client](${to.apiReference}#generate-a-client) for other languages.

${code("text", loop, "the-loop")}

## What each answer means

| Response | May run | Ask again |
| --- | --- | --- |
| \`200\` with \`ok: true\` | yes, for \`recheckAfterSeconds\` | shortly before that time ends |
| \`401\` ${toCode("signed_out")} | no | only with a new token: this one never works again |
| \`403\` ${toCode("trial_ended")}, ${toCode("forbidden")} | no | in ten minutes: the owner may have chosen a plan |
| \`503\` ${toCode("not_configured")} | no | in ten minutes: an operator has to set up sign-in |
| \`429\`, \`503\` ${toCode("unavailable")} | as before, until the last yes expires | after \`Retry-After\`, plus a random delay |
| No network, no response within ten seconds, no JSON | as before, until the last yes expires | after 5, 10, 20 … 300 seconds |

- Only a \`200\` with \`ok: true\` lets a company run, for \`recheckAfterSeconds\` by a monotonic clock. Show \`trialEndsAt\`, but never compare it with the device’s clock: a device that is an hour fast would stop a company that may run.
- A \`401\` can come before a token expires, for example after the operator has revoked a key. The client then forgets the token, renews it once, and asks the owner only if that fails.
- \`has("voice")\` and \`limit("projects")\` say what the owner's plan contains: see [Plans](${to.plans}). While the company may not run, they are false and 0.
- The files make a key of the app on first use and bind its tokens to it ([DPoP](${to.authentication}#tokens-that-only-their-holder-can-use)), so a token or a vault that was copied is worth nothing elsewhere. For other requests with the token, to us or to your own server, \`authorize(token, method, url)\` has the headers; \`Authorization: Bearer\` alone is refused. A vault of your own keeps a key if it has \`openKey\` (\`open_key\` in Python); else, outside a browser, and with a service that does not know DPoP, tokens are bound to none.
- Every wait has a random part, so that apps that stopped together do not return together.
- Ask immediately when the machine wakes up, and when the person clicks a button.

## Offline

No answer isn't a refusal: without internet, through an outage on our side or in a train tunnel, keep running until the last yes expires, 15 minutes at most. Then stop the company, say that there is no connection, and go on asking. An answer that is not ours counts as none: a proxy's error page, a hotel's sign-in page, a body cut short. No longer offline period is possible, because a yes is never stored on the device.

## The file

This is its loop. [Connect an app](${to.connectAnApp}) shows the sign-in and how the parts are joined.

${readParts("The loop", "typescript", "python", "swift", "kotlin")}

${sessionLimits}
`,
};
