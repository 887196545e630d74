import { writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { Account } from "@/lib/accounts/account";
import { setAccount, termsOfPlan } from "@/lib/accounts/accounts";
import { giveDueCredits } from "@/lib/accounts/credits/plan-credits";
import { addAccount } from "@/lib/accounts/joining/invitations";
import { type PlanChange, setPlan } from "@/lib/accounts/terms/plan-changes";
import { mintTokenFor } from "@/lib/admin/token";
import { linkMinutes, makeOperatorLink } from "@/lib/auth/operators";
import { mintLocalSubject, programTokenSeconds } from "@/lib/auth/sessions/session";
import { addBackend, listBackends, permissions, rotateBackend } from "@/lib/backend/backends";
import { quickStart } from "@/lib/backend/samples";
import { dayMs } from "@/lib/config/durations";
import { loadEnvFiles } from "@/lib/config/env-files";
import { settings } from "@/lib/config/settings";
import { accountBy } from "@/lib/db/account-by";
import { hasRow } from "@/lib/db/has-row";
import { type Db, migratedStore } from "@/lib/db/store";
import { startReceiver } from "@/lib/demo/receiver";
import { readClientFile } from "@/lib/docs/client-files";
import { mcpServer } from "@/lib/http/register/mcp";
import { operations } from "@/lib/http/register/operations";
import { pages } from "@/lib/http/register/pages";
import { findLinkKey } from "@/lib/mail/links/link-keys";
import { unsubscribeUrl } from "@/lib/mail/links/unsubscribe-token";
import { showCodesOnTerminal } from "@/lib/mail/senders/code-terminal";
import { createFolder } from "@/lib/runtime/data-dir";
import { logBeforeSettings } from "@/lib/runtime/log";
import { start } from "@/lib/server/start";
import { setBanner } from "@/lib/site-banner";

const toolCall = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "search_docs", arguments: { query: "entitlement" } },
});

const voice = { voice: "Talk to your assistants" };
const demoPlans: Record<string, PlanChange> = {
  trial: { features: voice, limits: { assistants: 3, projects: 5 } },
  hobby: { features: {}, limits: { assistants: 1, projects: 1 } },
  studio: {
    description: "For a company that works every day.",
    features: voice,
    limits: { assistants: 12, projects: 20 },
    credit_thousandths: 100_000,
  },
};

loadEnvFiles((complaint) => logBeforeSettings().warn(complaint));
process.env.LOG_LEVEL ||= "error"; // so that the terminal shows codes, not requests
process.env.OFFICE_PORT ||= String(Number(process.env.PORT || 3000) + 1);
process.env.BACKEND_PORT ||= String(Number(process.env.PORT || 3000) + 2);
await start();
showCodesOnTerminal();
const db = await migratedStore();
const receiver = await startReceiver(db, Date.now());
const accounts = await makeAccounts(db, Date.now());
const message = "This is the demo: four accounts, local sign-in, no mail is sent.";
await setBanner(db, { banner: { kind: "promo", message, starts_at_ms: null, ends_at_ms: null } }, Date.now());
process.stdout.write(await describeDemo(db, accounts));

/** Creates the four accounts and their plans, or resets those of an earlier demo. */
async function makeAccounts(db: Db, nowMs: number): Promise<Account[]> {
  for (const [name, plan] of Object.entries(demoPlans)) await setPlan(db, name, plan, {}, nowMs);
  const accounts = [
    { email: "licensed@example.com", ...termsOfPlan("studio"), credit_thousandths: 1_250_500 },
    { email: "trial@example.com", plan: "trial", trial_ends_at_ms: nowMs + 7 * dayMs },
    { email: "ended@example.com", plan: "trial", trial_ends_at_ms: nowMs - dayMs },
    { email: "hobby@example.com", plan: "hobby" },
  ] as const;
  for (const { email } of accounts) {
    if (!(await hasRow(accountBy(db, "email", email).select("id"))))
      await addAccount(db, email, { subject: mintLocalSubject() }, nowMs);
  }
  const made: Account[] = [];
  for (const { email, ...terms } of accounts) made.push(await setAccount(db, email, terms, nowMs));
  await giveDueCredits(db, nowMs);
  return made;
}

/** What the terminal shows last: it fits into 24 lines of 100 columns. Tokens and long fields are in files. */
async function describeDemo(db: Db, accounts: Account[]): Promise<string> {
  const { appUrl, backend, dataDir } = settings();
  const folder = join(dataDir, "demo");
  createFolder(folder);
  const keep = (name: string, text: string) => {
    const file = join(folder, name);
    writeFileSync(file, text, { mode: 0o600 });
    return relative(process.cwd(), file);
  };
  const program = await keepBackend(db, keep);
  const curl = (path: string, options = "") => `curl -i ${options}${appUrl}${path}`;
  const tokens: string[] = [];
  for (const { email } of accounts) {
    const { token } = await mintTokenFor(db, email);
    tokens.push(`-H @${keep(email.split("@")[0] ?? "", `Authorization: Bearer ${token}\n`)} `);
  }
  const [licensed = "", ...others] = tokens;
  const { search } = new URL(unsubscribeUrl(await findLinkKey(db), accounts[0]?.id ?? ""));
  const unsubscribe = `-X POST -G -d @${keep("unsubscribe", search.slice(1))} `;
  const ask = `-H 'Content-Type: application/json' -d @${keep("search.json", toolCall)} `;
  const needs = { anyone: "", session: licensed, "signed link": unsubscribe };
  const lines = [
    ...Object.values(operations).map(({ path, access }) => curl(path, needs[access])),
    curl(mcpServer.paths[0], ask),
    ...others.map((token) => curl(operations.entitlement.path, token)),
  ];
  return `
Corner Office runs at ${appUrl}

Sign in at     ${appUrl}${pages.signIn.path}, and the code is shown below, as one of
               ${accounts.map(({ email }) => email).join(" ")}
Operate it at  ${await makeOperatorLink(db, "demo", Date.now())}
               The link adds your passkey, once and within ${linkMinutes} minutes.
Spend credits  npx node ${program}   (its key: demo.pem there)  ${backend?.url}/docs
Change a plan  npm run -s admin -- plan set studio --feature voice --feature video
See events     curl ${receiver}   (what a receiver of webhooks has verified)

One line for each operation and one of an AI agent, to paste in this folder:
${lines.join("\n")}

The tokens in these files expire in ${programTokenSeconds / 60} minutes. They can't send, publish, deploy or charge.
Never put one into a chat, an issue or a log. LOG_LEVEL=info shows every request.
`;
}

/** Adds a backend, or gives the one of an earlier demo a new key, and keeps the program of its document. Returns its path. */
async function keepBackend(db: Db, keep: (name: string, text: string) => string): Promise<string> {
  const [id, by] = ["demo", "operator"] as const;
  const known = (await listBackends(db)).some((backend) => backend.id === id);
  const key = known
    ? await rotateBackend(db, { id, by }, Date.now())
    : await addBackend(db, { id, may: permissions, by }, Date.now());
  keep(`${id}.pem`, key ?? "");
  const client = "corner-office-backend.ts";
  keep(client, readClientFile(client));
  return keep("spend.ts", quickStart(settings().backend?.url ?? "", id).trimStart());
}
