import type { Account } from "@/lib/accounts/account";
import { listAccounts, setAccount } from "@/lib/accounts/accounts";
import { addAccount } from "@/lib/accounts/invitations";
import { mintTokenFor } from "@/lib/admin/token";
import { showCodesOnTerminal } from "@/lib/auth/code-terminal";
import { mintLocalSubject, programTokenSeconds } from "@/lib/auth/session";
import { dayMs } from "@/lib/config/durations";
import { loadEnvFiles } from "@/lib/config/env-files";
import { settings } from "@/lib/config/settings";
import { type Db, store } from "@/lib/db/store";
import { mcpServer, operations } from "@/lib/http/operations";
import { pages } from "@/lib/http/pages";
import { findLinkKey } from "@/lib/mail/link-keys";
import { unsubscribeUrl } from "@/lib/mail/unsubscribe-token";
import { linkMinutes, makeOperatorLink } from "@/lib/office/operators";
import { logBeforeSettings } from "@/lib/runtime/log";
import { start } from "@/lib/server/start";
import { setBanner } from "@/lib/site-banner";

const toolCall = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "search_docs", arguments: { query: "entitlement" } },
});

loadEnvFiles((complaint) => logBeforeSettings().warn(complaint));
process.env.OFFICE_PORT ||= String(Number(process.env.PORT || 3000) + 1);
await start();
showCodesOnTerminal();
const db = await store();
const accounts = await makeAccounts(db, Date.now());
await makeBanner(db);
process.stdout.write(await describeDemo(db, accounts));

/** Creates the four accounts, or resets those of an earlier demo. */
async function makeAccounts(db: Db, nowMs: number): Promise<Account[]> {
  const accounts = [
    { email: "licensed@example.com", plan: "licensed", assistantLimit: 12, creditThousandths: 1_250_500 },
    { email: "trial@example.com", plan: "trial", trialEndsAtMs: nowMs + 7 * dayMs, assistantLimit: 3 },
    { email: "ended@example.com", plan: "trial", trialEndsAtMs: nowMs - dayMs, assistantLimit: 3 },
    { email: "hobby@example.com", plan: "hobby", assistantLimit: 1 },
  ] as const;
  const known = new Set<string>();
  for await (const page of listAccounts(db)) for (const { email } of page) known.add(email);
  const made: Account[] = [];
  for (const { email, ...terms } of accounts) {
    if (known.has(email)) made.push(await setAccount(db, email, terms, nowMs));
    else made.push(await addAccount(db, email, { ...terms, subject: mintLocalSubject() }, nowMs));
  }
  return made;
}

async function makeBanner(db: Db): Promise<void> {
  const message = "This is the demo: four accounts, local sign-in, no mail is sent.";
  await setBanner(db, { kind: "promo", message, startsAtMs: null, endsAtMs: null }, Date.now());
}

async function describeDemo(db: Db, [licensed, ...others]: Account[]): Promise<string> {
  const { appUrl } = settings();
  const curl = (path: string, token?: string) =>
    `curl -i ${token ? `-H 'Authorization: Bearer ${token}' ` : ""}'${appUrl}${path}'`;
  const { token } = await mintTokenFor(db, licensed?.email ?? "");
  const entitlements: string[] = [];
  for (const { email } of others) {
    const { token } = await mintTokenFor(db, email);
    entitlements.push(`# as ${email}`, curl(operations.entitlement.path, token));
  }
  return `
Corner Office runs at ${appUrl}

A session cannot make an assistant send, publish, deploy or charge: those steps wait for the CEO's approval
in the app. Never put a token into a chat, an issue or a log. These tokens expire in ${programTokenSeconds / 60} minutes.

# a token of ${licensed?.email}
${token}

# sign in at ${appUrl}${pages.signIn.path} as any of these; the code is shown here
${[licensed, ...others].map((account) => account?.email).join(" ")}

# one command for each operation
${curl(operations.health.path)}
${curl(operations.siteBanner.path)}
${curl(operations.entitlement.path, token)}
${curl(operations.creditsBalance.path, token)}
curl -i -X POST '${unsubscribeUrl(await findLinkKey(db, Date.now()), licensed?.id ?? "")}'

# a request of an AI agent
curl -i -H 'Content-Type: application/json' -d '${toolCall}' '${appUrl}${mcpServer.paths[0]}'

# the operators' office: this link adds your passkey, once and within ${linkMinutes} minutes
${await makeOperatorLink(db, "demo", Date.now())}

# the entitlement of the other accounts
${entitlements.join("\n")}
`;
}
