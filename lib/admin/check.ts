import type { Command } from "commander";
import { countWaiting } from "@/lib/accounts/waitlist";
import { withExamples } from "@/lib/admin/command";
import { checkDkim, checkDmarc, checkSpf } from "@/lib/admin/mail-domain";
import { type Result, toPrintable } from "@/lib/admin/print";
import { fault, fine, type Verdict, warning } from "@/lib/admin/verdict";
import { isProxyUntoldOf } from "@/lib/api/client-address";
import { counterStore } from "@/lib/api/rate-limit";
import { sender } from "@/lib/mail/sender";
import { openKey, readSigningKeys, verifies } from "@/lib/session/signing-keys";
import { waitlistBounds } from "@/lib/settings/limits";
import { settings } from "@/lib/settings/settings";
import { probeStore } from "@/lib/store/probe";
import { store } from "@/lib/store/store";

/** Something to be checked, and what helps where the check itself fails. */
type Check = { what: string; look: () => Promise<Verdict>; remedy: string };

/** `works` says what `level` says to programs that know no more. */
type Finding = { what: string; works: boolean } & Verdict;

/** `check`: what of this deployment works. The process exits 1 when something does not. */
export function addCheckCommand(program: Command, print: (result: Result) => Promise<void>): void {
  withExamples(program.command("check"), "check")
    .description(
      "check the settings, the store, the counters, mail and its domain, sign-in, and the waitlist",
    )
    .action(async () => {
      const findings: Finding[] = [];
      for (const check of checks()) findings.push(await find(check));
      await print({ json: findings, text: findings.map(asText).join("\n") });
      if (findings.some(({ works }) => !works)) process.exitCode = 1;
    });
}

async function find({ what, look, remedy }: Check): Promise<Finding> {
  const verdict = await look().catch((failure: NodeJS.ErrnoException) =>
    fault(failure.message.split("\n")[0] || String(failure.code), remedy),
  );
  return { what, works: verdict.level !== "fault", ...verdict };
}

const marks = { fine: "✓", warning: "!", fault: "✗" } as const;

function asText({ what, level, detail, remedy }: Finding): string {
  const line = `${marks[level]} ${what.padEnd(14)}  ${toPrintable(detail)}`;
  return remedy ? `${line}\n${" ".repeat(18)}→ ${toPrintable(remedy)}` : line;
}

function checks(): Check[] {
  const { mail, databaseUrl, dataDir } = settings();
  const dns = "Look at the resolver of this machine, then check again.";
  return [
    { what: "settings", look: checkSettings, remedy: "" },
    {
      what: "store",
      look: checkStore,
      remedy: databaseUrl
        ? "Look whether PostgreSQL runs, lets us in at DATABASE_URL and takes writes."
        : `Look whether ${dataDir} can be written and its disk has room; put a damaged store back from a backup.`,
    },
    { what: "counters", look: checkCounters, remedy: "Look whether the counter store runs and lets us in." },
    {
      what: "mail",
      look: checkMail,
      remedy: "Look at the settings of mail, and whether the mail service lets us in.",
    },
    ...(mail.kind === "files"
      ? []
      : [
          { what: "spf", look: () => checkSpf(mail), remedy: dns },
          { what: "dkim", look: () => checkDkim(mail), remedy: dns },
          { what: "dmarc", look: () => checkDmarc(mail), remedy: dns },
        ]),
    {
      what: "client address",
      look: checkClientAddress,
      remedy: "",
    },
    { what: "sign-in", look: checkSignIn, remedy: "" },
    { what: "waitlist", look: checkWaitlist, remedy: "Mend the store first." },
    { what: "signing keys", look: checkKeys, remedy: "Mend the store first." },
  ];
}

async function checkSettings(): Promise<Verdict> {
  const { appUrl, warnings } = settings();
  const detail = `APP_URL is ${appUrl}`;
  return warnings.length === 0 ? fine(detail) : warning(detail, warnings.join("; "));
}

async function checkStore(): Promise<Verdict> {
  await probeStore(await store());
  const { databaseUrl, dataDir } = settings();
  return fine(databaseUrl ? "PostgreSQL answers" : `embedded, in ${dataDir}`);
}

async function checkCounters(): Promise<Verdict> {
  const store = counterStore();
  if (!store) {
    const detail = "per process: instances do not share them";
    const remedy = "Before you start a second instance, set REDIS_URL or the two UPSTASH_… settings.";
    return settings().databaseUrl ? warning(detail, remedy) : fine(detail);
  }
  const [reply] = await store.run([["PING"]], AbortSignal.timeout(2000));
  if (reply instanceof Error) throw reply;
  return fine(`${store.name} answers`);
}

async function checkMail(): Promise<Verdict> {
  const detail = await sender().check();
  const { mail, production } = settings();
  if (mail.kind !== "files" || !production) return fine(detail);
  return warning(detail, "Set RESEND_API_KEY or SMTP_URL, so that people get their mail.");
}

async function checkClientAddress(): Promise<Verdict> {
  const { trustedProxyHops, onVercel } = settings();
  if (onVercel) return fine("the platform's own header");
  if (trustedProxyHops > 0) return fine(`appended by ${trustedProxyHops} trusted proxies`);
  if (!isProxyUntoldOf()) return fine("the socket's");
  return fault(
    "something in front of us speaks https, but TRUSTED_PROXY_HOPS is 0: its clients share one address, so that forms and codes are bounded for all of them together alone",
    "Set TRUSTED_PROXY_HOPS to the number of proxies that append to X-Forwarded-For.",
  );
}

async function checkSignIn(): Promise<Verdict> {
  const { kind } = settings().signIn;
  if (kind !== "none") return fine(kind);
  return warning("none: nobody can sign in", "Set SIGN_IN=local, or Clerk's keys.");
}

async function checkWaitlist(): Promise<Verdict> {
  const { waiting: most, usualJoins } = waitlistBounds;
  const db = await store();
  const waiting = await countWaiting(db);
  const today = await countWaiting(db, Date.now() - 24 * 60 * 60 * 1000);
  const detail = `${waiting} wait, ${today} of them since yesterday; ${most} may`;
  const remedy = "Look at 'waitlist list': invite who is a person, and remove the others.";
  if (waiting >= most) return fault(`${detail}, so nobody can join`, remedy);
  return today > usualJoins || waiting > 0.8 * most ? warning(detail, remedy) : fine(detail);
}

async function checkKeys(): Promise<Verdict> {
  if (settings().signIn.kind === "none") return fine("none is needed");
  const rows = await readSigningKeys(await store());
  const good = rows.filter((row) => verifies(row, Date.now()));
  const lost = good.filter((row) => !openKey(row)).map(({ kid }) => kid);
  if (lost.length === 0) return fine(`${good.length} of ${rows.length} in use`);
  return fault(
    `another APP_SECRET sealed ${lost.join(", ")}`,
    "Set that one as APP_SECRET_PREVIOUS, or revoke them with 'keys revoke'.",
  );
}
