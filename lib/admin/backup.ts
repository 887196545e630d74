import { mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import * as z from "zod";
import { openArchive, writeArchive } from "@/lib/admin/archive";
import { withExamples } from "@/lib/admin/command";
import type { Result } from "@/lib/admin/print";
import { ApiError } from "@/lib/api/errors";
import { currentSecret, keepSecret } from "@/lib/process/app-secret";
import { makeFolder } from "@/lib/process/data-dir";
import { settings } from "@/lib/settings/settings";
import { noteChange } from "@/lib/store/audit";
import { copyStore, isEmptyPlace, makeStoreOf } from "@/lib/store/snapshot";
import { store } from "@/lib/store/store";

const shortestPassphrase = 16;

const note = z.object({
  engine: z.enum(["embedded", "postgresql"]),
  madeAt: z.iso.datetime(),
  appSecret: z.string(),
});

/** `backup`, `restore`. */
export function addBackupCommands(program: Command, print: (result: Result) => Promise<void>): void {
  withExamples(program.command("backup"), "backup office.backup")
    .description("write the store and APP_SECRET to a file, under BACKUP_PASSPHRASE, while the server runs")
    .argument("<file>")
    .action(async (file: string) => {
      passphrase();
      await store(); // of this build's schema
      await inFolder((copy) => backUp(resolve(file), copy));
      await print({
        json: { backup: resolve(file) },
        text: `Written: ${resolve(file)}. Keep the passphrase elsewhere.`,
      });
    });

  withExamples(program.command("restore"), "restore office.backup")
    .description("put a backup back, into an empty place only: a new DATA_DIR or an empty database")
    .argument("<file>")
    .option("--print-app-secret", "print the APP_SECRET of the backup, and put nothing back")
    .action(async (file: string, { printAppSecret = false }: { printAppSecret?: boolean }) => {
      const backup = await openBackup(resolve(file));
      const { appSecret, madeAt } = backup;
      if (printAppSecret) return print({ json: { appSecret }, text: appSecret });
      await inFolder((copy) => restore(backup, copy));
      await print({
        json: { restored: resolve(file), madeAt },
        text: `Restored what was there at ${madeAt}.`,
      });
    });
}

async function backUp(file: string, copy: string): Promise<void> {
  await copyStore(settings(), copy);
  const madeAt = new Date().toISOString();
  await writeArchive(file, passphrase(), { engine: engine(), madeAt, appSecret: currentSecret() }, copy);
}

type Backup = Awaited<ReturnType<typeof openBackup>>;

async function openBackup(file: string) {
  const { note: written, extractCopy } = await openArchive(file, passphrase());
  return { ...note.parse(written), extractCopy };
}

async function restore({ engine: madeOn, appSecret, madeAt, extractCopy }: Backup, copy: string) {
  if (madeOn !== engine()) {
    throw refused(
      `This is a backup of the ${madeOn} store.`,
      "Set DATABASE_URL where it is PostgreSQL's, and only there.",
    );
  }
  if (!(await isEmptyPlace(settings()))) {
    throw refused("There is a store already.", "Restore into a new DATA_DIR or an empty database.");
  }
  if (!keepSecret(appSecret)) {
    throw refused(
      "APP_SECRET is not the backup's, so its tokens and links would not work.",
      "Set it to what 'restore --print-app-secret' prints.",
    );
  }
  await extractCopy(copy);
  await makeStoreOf(settings(), copy);
  const about = { by: "operator", what: "restore", whom: null, after: { madeAt } } as const;
  await noteChange(await store(), about, Date.now());
}

const engine = () => (settings().databaseUrl ? "postgresql" : "embedded");

function passphrase(): string {
  const { BACKUP_PASSPHRASE = "" } = process.env;
  if (BACKUP_PASSPHRASE.length >= shortestPassphrase) return BACKUP_PASSPHRASE;
  throw refused(
    "There is no passphrase.",
    `Set BACKUP_PASSPHRASE to ${shortestPassphrase} characters or more.`,
  );
}

/** Gives a file in a folder that is gone afterwards: the copy in it is not encrypted. */
async function inFolder(work: (copy: string) => Promise<void>): Promise<void> {
  const { dataDir } = settings();
  makeFolder(dataDir);
  const folder = mkdtempSync(join(dataDir, "copy-"));
  try {
    await work(join(folder, "store"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function refused(message: string, hint: string): ApiError {
  return new ApiError("invalid_request", { message, hint });
}
