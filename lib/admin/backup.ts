import { existsSync } from "node:fs";
import * as z from "zod";
import { shellAct } from "@/lib/admin/act";
import { openArchive, writeArchive } from "@/lib/admin/backup-file";
import { openStore } from "@/lib/admin/command";
import { resealKeys } from "@/lib/auth/keys/signing-keys";
import { describeUnclaimed, listUnclaimed } from "@/lib/billing/customer/unclaimed-purchases";
import { reconcile } from "@/lib/billing/reconciler";
import { readVariable } from "@/lib/config/setting-files";
import { settings } from "@/lib/config/settings";
import { backedUp, recordAudit } from "@/lib/db/audit";
import { isEmptyLocation, readStore, writeStore } from "@/lib/db/backup-copy";
import { mendStore } from "@/lib/db/mend-store";
import { migratedStore } from "@/lib/db/store";
import { resealWebhooks } from "@/lib/events/webhooks";
import { ApiError } from "@/lib/http/errors";
import { ensureLinkKeys } from "@/lib/mail/links/link-keys";
import { currentSecret, storeSecret } from "@/lib/runtime/app-secret";
import { createFolder } from "@/lib/runtime/data-dir";

const minPassphrase = 16;

const note = z.object({
  engine: z.enum(["embedded", "postgresql"]),
  madeAt: z.iso.datetime(),
  appSecret: z.string(),
});

export const backupAct = shellAct({
  usage: "backup <file>",
  words: "write the store and APP_SECRET to a file, encrypted with BACKUP_PASSPHRASE; the server can run",
  async runWithoutStore(confirm, { file }: { file: string }) {
    passphrase();
    if (existsSync(file)) await confirm(`This replaces ${file}.`);
    const db = await openStore(); // brings the schema up to date
    // The backup has the current secret only.
    await resealKeys(db);
    await ensureLinkKeys(db);
    await resealWebhooks(db, Date.now());
    const note = { engine: engine(), madeAt: new Date().toISOString(), appSecret: currentSecret() };
    await untilSignal((signal) =>
      writeArchive(file, passphrase(), { note, copy: readStore(settings()), signal }),
    );
    // A disk that is full takes a backup elsewhere, and no entry.
    const about = { by: "operator", what: backedUp, whom: null, after: { file } } as const;
    const noted = await recordAudit(db, about, Date.now()).then(
      () => "",
      () => " The store could not note it, so 'check' will not know of it.",
    );
    return { json: { backup: file }, text: `Wrote ${file}. Store the passphrase in another place.${noted}` };
  },
});

export const restoreAct = shellAct({
  usage: "restore <file>",
  words: "restore a backup into a new DATA_DIR or an empty database",
  fields: {
    printAppSecret: {
      option: "--print-app-secret",
      words: "print the APP_SECRET of the backup and restore nothing",
    },
  },
  async runWithoutStore(_, { file, printAppSecret }: { file: string; printAppSecret?: boolean }) {
    const backup = await openBackup(file);
    const { appSecret, madeAt } = backup;
    if (printAppSecret) return { json: { appSecret }, text: appSecret };
    await untilSignal((signal) => restore(backup, signal));
    const json = { restored: file, madeAt };
    const text = `Restored the backup of ${madeAt}. What was mailed since then is mailed again, unless you run 'emails sent-until' with the time at which the service stopped before it starts. A copy that only rehearses also sends to its webhooks: remove them first.`;
    if (!settings().billing) return { json, text };
    const billing = await recoverPurchases();
    return { json: { ...json, billing }, text: [text, ...describeRecovery(billing)].join("\n") };
  },
});

/** Fulfils what was bought since the backup was made. */
async function recoverPurchases() {
  const db = await migratedStore();
  const { read, failed } = await reconcile(db, Date.now(), { isRestored: true });
  return { read, failed, unclaimed: await listUnclaimed(db) };
}

function describeRecovery({ read, failed, unclaimed }: Awaited<ReturnType<typeof recoverPurchases>>) {
  const isBehind =
    "Stripe could not be read to its end: run 'billing reconcile' before you start the server.";
  return [
    `Read ${read} purchases at Stripe that may have been made or changed since, ${failed} of them without success.`,
    ...(failed > 0 ? [isBehind] : []),
    ...unclaimed.map(describeUnclaimed),
  ];
}

type Backup = Awaited<ReturnType<typeof openBackup>>;

async function openBackup(file: string) {
  const { note: written, readCopy } = await openArchive(file, passphrase());
  return { ...note.parse(written), readCopy };
}

async function restore({ engine: madeOn, appSecret, madeAt, readCopy }: Backup, signal: AbortSignal) {
  if (madeOn !== engine()) {
    throw refused(
      `This is a backup of the ${madeOn} store.`,
      "Set DATABASE_URL for a backup of PostgreSQL, and unset it for an embedded one.",
    );
  }
  if (!(await isEmptyLocation(settings()))) {
    throw refused("There is already a store here.", "Restore into a new DATA_DIR or an empty database.");
  }
  if (!storeSecret(appSecret)) {
    throw refused(
      "APP_SECRET differs from that of the backup, so its tokens and links would not work.",
      "Set it to the value that 'restore --print-app-secret' prints.",
    );
  }
  createFolder(settings().dataDir);
  await writeStore(settings(), readCopy(), signal);
  const about = { by: "operator", what: "restore", whom: null, after: { madeAt } } as const;
  const db = await migratedStore();
  await mendStore(db);
  await recordAudit(db, about, Date.now());
}

const engine = () => (settings().databaseUrl ? "postgresql" : "embedded");

function passphrase(): string {
  const faults: string[] = [];
  const given = readVariable(process.env, "BACKUP_PASSPHRASE", faults) ?? "";
  if (given.length >= minPassphrase) return given;
  throw refused(
    faults[0] ?? "BACKUP_PASSPHRASE is missing or too short.",
    `Set it to ${minPassphrase} characters or more.`,
  );
}

/** Aborts the work on a signal, so that it can undo what it has done. */
async function untilSignal(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const breaking = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(name, () => breaking.abort());
  try {
    await work(breaking.signal);
  } catch (failure) {
    if (!breaking.signal.aborted) throw failure;
    throw refused("The command was interrupted and changed nothing.", "Run it again.");
  }
}

function refused(message: string, hint: string): ApiError {
  return new ApiError("invalid_request", { message, hint });
}
