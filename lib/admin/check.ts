import type { Command } from "commander";
import { asTable, type Result } from "@/lib/admin/command";
import { counterStore } from "@/lib/api/rate-limit";
import { sender } from "@/lib/mail/sender";
import { openKey, readSigningKeys, verifies } from "@/lib/session/signing-keys";
import { settings } from "@/lib/settings/settings";
import { store } from "@/lib/store/store";

type Finding = { what: string; works: boolean; detail: string };

/** `check`: what of this deployment works. The process exits 1 when something does not. */
export function addCheckCommand(program: Command, print: (result: Result) => void): void {
  program
    .command("check")
    .description("check the settings, the store, the counters, mail and sign-in")
    .action(async () => {
      const findings = [
        await check("settings", checkSettings),
        await check("store", checkStore),
        await check("counters", checkCounters),
        await check("mail", () => sender().check()),
        await check("client address", checkClientAddress),
        await check("sign-in", async () => settings().signIn.kind),
        await check("signing keys", checkKeys),
      ];
      print({ json: findings, text: asTable(findings, "") });
      if (findings.some((finding) => !finding.works)) process.exitCode = 1;
    });
}

async function check(what: string, look: () => Promise<string>): Promise<Finding> {
  try {
    return { what, works: true, detail: await look() };
  } catch (failure) {
    const { message, code } = failure as NodeJS.ErrnoException;
    return { what, works: false, detail: message.split("\n")[0] || String(code) };
  }
}

async function checkSettings(): Promise<string> {
  const { appUrl, warnings } = settings();
  return [`APP_URL is ${appUrl}`, ...warnings].join("; ");
}

async function checkStore(): Promise<string> {
  const db = await store();
  await db.selectFrom("accounts").select("id").limit(1).execute();
  return settings().databaseUrl ? "PostgreSQL answers" : `embedded, in ${settings().dataDir}`;
}

async function checkKeys(): Promise<string> {
  if (settings().signIn.kind === "none") return "none is needed";
  const rows = await readSigningKeys(await store());
  const good = rows.filter((row) => verifies(row, Date.now()));
  const lost = good.filter((row) => !openKey(row));
  if (lost.length === 0) return `${good.length} of ${rows.length} in use`;
  throw new Error(
    `another APP_SECRET sealed ${lost.map(({ kid }) => kid).join(", ")}: set it as APP_SECRET_PREVIOUS, or revoke them`,
  );
}

async function checkCounters(): Promise<string> {
  const store = counterStore();
  if (!store) return "per process: instances do not share them";
  const [reply] = await store.run([["PING"]], AbortSignal.timeout(2000));
  if (reply instanceof Error) throw reply;
  return `${store.name} answers`;
}

async function checkClientAddress(): Promise<string> {
  const { appUrl, trustedProxyHops, onVercel } = settings();
  if (onVercel) return "the platform's own header";
  if (trustedProxyHops > 0) return `appended by ${trustedProxyHops} trusted proxies`;
  if (appUrl.startsWith("http:")) return "the socket's";
  throw new Error(
    "something in front of us speaks https, but TRUSTED_PROXY_HOPS is 0: its clients share one address",
  );
}
