import { bodyLimits, inKibibytes, quotas } from "@/lib/config/limits";
import { to } from "@/lib/docs/markdown";
import { type Operation, type OperationName, operations } from "@/lib/http/operations";

const { requests, windowSeconds } = quotas.health;

/** The documentation of each operation: a description, and an example of its 200. */
export const operationWords: Record<OperationName, { about: string; example: object | string }> = {
  health: {
    about: `Needs no sign-in and reads no account. It is [rate limited](${to.limits}): ${requests} requests per ${windowSeconds} seconds and address.`,
    example: { ok: true, service: "corner-office-web", surface: "web", agent: "not-hosted" },
  },
  siteBanner: {
    about:
      "Needs no sign-in. The response is the same for everyone, and browsers on other origins may read it. Shared caches may store it briefly, so a change shows within half a minute.",
    example: { banner: { kind: "warning", message: "We are down for maintenance on Friday at noon." } },
  },
  entitlement: {
    about: `Needs [a session](${to.authentication}). Never cached. Only a \`200\` with \`ok: true\` means that the account may run. Ask again within \`recheckAfterSeconds\`. An outage is a \`503\`, never a \`401\`.`,
    example: {
      ok: true,
      status: "trial",
      trialEndsAt: "2027-01-15T09:30:00.000Z",
      assistantLimit: 3,
      recheckAfterSeconds: 900,
    },
  },
  creditsBalance: {
    about: `Needs [a session](${to.authentication}). Never cached. Credits are a count with up to three decimal places, never money.`,
    example: { credits: 1250.5 },
  },
  unsubscribe: {
    about: `One-click unsubscribe (RFC 8058). Needs no sign-in: the signed \`token\` in the query is the credential. Use the link of the email exactly as it was sent. It does not expire, and using it again answers \`200\` again. Emails about sign-in, security and the state of the account go on. Any body of up to ${inKibibytes(bodyLimits.unsubscribe)} is accepted and ignored. \`GET\` never unsubscribes, because link scanners send it.`,
    example: "The later onboarding emails are stopped.",
  },
};

/** A link to the document of an operation, with its first method and its path. */
export function toOperation(name: OperationName): string {
  const { methods, path }: Operation = operations[name];
  return `[\`${methods[0]} ${path}\`](${to[`${name}Operation` as const]})`;
}
