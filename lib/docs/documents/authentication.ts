import { maxPasskeys } from "@/lib/auth/passkeys/passkeys";
import { programTokenSeconds } from "@/lib/auth/sessions/session";
import { proofAlgorithms } from "@/lib/auth/tokens/proof";
import { describeSeconds } from "@/lib/config/durations";
import { sessionDays } from "@/lib/config/lifetimes";
import { proofBounds } from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import type { DocumentText } from "@/lib/docs/document";
import { code, linkToPage, to, toCode } from "@/lib/docs/markdown";
import { readToken } from "@/lib/docs/samples";
import { noPayments, sessionLimits, supportInWords, tokenSafety } from "@/lib/docs/words";
import { connectEndpoints } from "@/lib/http/register/oauth";
import { pages } from "@/lib/http/register/pages";
import { publications } from "@/lib/http/register/publications";

export const authentication: DocumentText = {
  title: "Authentication",
  group: "Start",
  summary: "How a program gets, sends, renews and protects a session token.",
  markdown:
    () => `Operations that read an account need a session. The others need nothing, or the signed \`token\` of a link, used exactly as sent. [The API reference](${to.apiReference}) says which needs what.

## Two ways to send a session

| Scheme | How it is sent | Used by |
| --- | --- | --- |
| \`bearerAuth\` | Header \`Authorization: Bearer <SESSION_TOKEN>\` | Desktop app, phone app, a program acting for an account |
| \`sessionCookie\` | Cookie named \`__session\` | A browser after sign-in at ${linkToPage(pages.signIn)} |

If both are sent, the token in the header counts. If that token is invalid, the cookie is not used instead. A token that is [bound to a key](#tokens-that-only-their-holder-can-use) is sent as \`Authorization: DPoP <SESSION_TOKEN>\`, with a proof.

## What an owner has

With a deployment's own sign-in, an owner signs in at ${linkToPage(pages.signIn)} with a six-digit code by email, which always works. An owner can add up to ${maxPasskeys} passkeys on ${linkToPage(pages.access)}, and then signs in with a fingerprint, a face or a device's PIN, without waiting for a mail. To add or remove a passkey, the owner confirms with a code or a passkey, and gets a mail about the change. An owner who has lost every passkey signs in with a code. Passkeys never sign in a program: programs use tokens.

## Email, plan and credits

${accountChanges()}

## How a program gets a token

A program cannot create an account or sign itself in. Self-service sign-up is not open: accounts are created from a waitlist invitation. So the account's owner gives the program a token:

1. The owner signs in at ${linkToPage(pages.signIn)} and opens ${linkToPage(pages.access)}.
2. The owner clicks the button that copies a token for a program.
3. The program reads it from its environment or its keychain:

${readToken}

${code("sh", `curl -sS "$CORNER_OFFICE_URL/api/entitlement" \\\n  -H "Authorization: Bearer $CORNER_OFFICE_TOKEN"`)}

Long-lived developer tokens are not issued.

## Connecting an app

You do not have to copy a token into an app or an agent. It asks its owner once, in a browser, and renews its token as long as it is used, for ${sessionDays.app} days at most: [Connect an app](${to.connectAnApp}) has a tested file for a desktop, a phone and a terminal. ${linkToPage(pages.access)} lists the connected apps, where the owner can disconnect them; the next request of a disconnected app gets a \`401\`.

## What a token is

A token is a JWT, signed with RS256. ${signIn()} The public keys are at [${publications.jwks.path}](${publications.jwks.path}) (RFC 7517); \`kid\` in the token's header names the one that signed it. When keys rotate, the next one is published a minute before it signs, and the old one stays until its last token has expired; so fetch the keys again when you meet an unknown \`kid\`, and at most once in 30 seconds.

You may verify a token yourself: allow no algorithm but RS256, and compare \`exp\`, \`nbf\` and, in an app's token, \`aud\`. A valid signature still does not say that the session goes on, or that the company may run. Only [an answer of the API](${to.entitlementOperation}) does.

## How long a token lives

A token belongs to one signed-in account and is short lived: ${programTokenSeconds / 60} minutes at most. A token that no longer works answers \`401\` with the code ${toCode("signed_out")}; signing in again yields a new one. Signing out may end it sooner.

A \`401\` always carries a challenge, which distinguishes two cases:

${code("http", `WWW-Authenticate: Bearer realm="corner-office"\nWWW-Authenticate: Bearer realm="corner-office", error="invalid_token"`)}

The first answers a request without a token, the second a token that is expired, altered or ended. An outage on our side is a \`503\`, never a \`401\`, so keep your token.

## Tokens that only their holder can use

A bearer token works for anyone who has copied it. An app that makes a key pair of its own and keeps the private key where its platform keeps keys gets tokens that are worth nothing without it (DPoP, RFC 9449). It is optional; our [client files](${to.client}) do it by themselves.

1. The app signs a proof, a JWT of the type \`dpop+jwt\` with its public key as \`jwk\`, for each request, and sends it in the header \`DPoP\`: with the request for tokens, each renewal, and each request with the token. The algorithms are ${proofAlgorithms.map((name) => `\`${name}\``).join(", ")}.
2. A proof names a new \`jti\`, the method as \`htm\`, the address without its query as \`htu\`, the time as \`iat\`, and in a request with a token the token's hash as \`ath\`. It counts once, within ${describeSeconds(proofBounds.ageSeconds)} of its time. The address is that at \`${settings().appUrl}\`, whatever stands in between.
3. The token's \`token_type\` is then \`DPoP\`, and its claim \`cnf\` has the thumbprint of the key. The refresh token is bound to the key too, and stays the same as long as the session lasts.

What is wrong with such a request is said in the challenge of its \`401\`; at \`${connectEndpoints.token.path}\` it is a \`400\` with \`invalid_dpop_proof\`, \`invalid_grant\` or \`use_dpop_nonce\`:

${code("http", `WWW-Authenticate: DPoP realm="corner-office", error="invalid_token", error_description="The token is bound to a key: send a DPoP proof", algs="${proofAlgorithms.join(" ")}"`)}

With \`error="use_dpop_nonce"\` the clock of the app differs from ours: it signs the same again, with the value of the header \`DPoP-Nonce\` as \`nonce\`, and does so with each proof for the next minutes. With \`invalid_dpop_proof\` sign a new proof; one that was sent again by a proxy or a library was used before.

## A lost device

A laptop or phone is lost or stolen, or a token has leaked? The owner of the account locks it out from any other device:

1. Protect the mailbox that you sign in with, then sign in at ${linkToPage(pages.signIn)}.
2. At ${linkToPage(pages.access)}, end the sessions of the device: disconnect its apps, and sign out its browsers.
3. The next request from there gets a \`401\`. A token that was copied ends with the session in which it was copied.

No one else is signed out. If the mailbox is lost too, [contact support](${to.support}): the operator can end every session of an account.

## Keeping it safe

- ${tokenSafety}
- Do not put it into a URL either: a token in the query is ignored.
- ${sessionLimits}
- ${noPayments}
`,
};

/** Whose tokens our keys sign. */
function signIn(): string {
  return settings().signIn.kind === "clerk"
    ? "The tokens of connected apps are signed with keys of this service; those of browsers, also when copied, with keys of Clerk."
    : "It is signed with a key of this service.";
}

/** What an owner can change, and who has to be asked for the rest. */
function accountChanges(): string {
  const { billing, signIn } = settings();
  const at = linkToPage(pages.billing);
  const email =
    signIn.kind === "clerk"
      ? `Change your email in your profile, behind your picture at ${at}; sign-in, mail and the account follow.`
      : `Change your email at ${linkToPage(pages.account)}. Both addresses confirm it.`;
  const credits = billing
    ? `Buy credits at ${at}. They are on the account as soon as the payment is confirmed.`
    : "This deployment takes no payments. The operator adds credits.";
  const plan = billing
    ? `To change or cancel a subscription, or to see receipts, open “Manage billing” at ${at}. A cancelled plan runs to the end of its period.`
    : "To change or cancel a plan, ask the operator.";
  return [email, credits, plan, `A credit is a count, never money. ${supportInWords()}`]
    .map((line) => `- ${line.trim()}`)
    .join("\n");
}
