import { type CheckResult, fault, fine, warning } from "@/lib/admin/check-result";
import { findSecret, openKey, readSigningKeys, sealedAnew, verifies } from "@/lib/auth/keys/signing-keys";
import { dayMs } from "@/lib/config/durations";
import { asIso } from "@/lib/config/instants";
import { settings } from "@/lib/config/settings";
import { auditEntries } from "@/lib/db/audit";
import { store } from "@/lib/db/store";
import { findSealer, listWebhooks } from "@/lib/events/webhooks";
import { listLinkKeys } from "@/lib/mail/links/link-keys";
import { countSealedMails } from "@/lib/mail/outbox/outbox";

/** What is sealed with another secret than `APP_SECRET`: lost already, or once `APP_SECRET_PREVIOUS` is dropped. */
export async function checkSecrets(nowMs = Date.now()): Promise<CheckResult> {
  const db = await store();
  const links = await listLinkKeys(db);
  const webhooks = (await listWebhooks(db)).map(findSealer);
  const mails = await countSealedMails(db);
  const lostMails = `waiting mails (${mails.lost}), the last of which expires at ${asIso(mails.lostUntilMs)}`;
  const lost = [
    links.some(({ by }) => by === undefined) && "the keys of unsubscribe links",
    webhooks.includes(undefined) && "the secrets of webhooks",
    mails.lost > 0 && lostMails,
  ].filter(Boolean);
  if (lost.length > 0) {
    return fault(
      `encrypted with another APP_SECRET: ${lost.join("; ")}`,
      "Set that secret as APP_SECRET_PREVIOUS, here and for the server.",
    );
  }
  if (!settings().previousAppSecret) return fine("all can be opened");
  const keys = await readSigningKeys(db);
  const [rotation] = await auditEntries(db, { what: sealedAnew, sinceMs: nowMs - dayMs })
    .limit(1)
    .execute();
  const needed = [
    [...keys.map(findSecret), ...links.map(({ by }) => by)].includes("previous") && "keys",
    webhooks.includes("previous") && "secrets of webhooks",
    mails.ofPrevious > 0 && `waiting mails (${mails.ofPrevious})`,
    rotation && "codes and registrations of apps of the last day",
  ].filter(Boolean);
  if (needed.length === 0) return fine("APP_SECRET_PREVIOUS can be unset");
  return warning(
    `only APP_SECRET_PREVIOUS opens: ${needed.join(", ")}`,
    "Keep it. A server that starts encrypts the keys again, and mails with their next attempt; the rest takes a day.",
  );
}

/** Whether the keys that sign sessions can be opened. */
export async function checkKeys(): Promise<CheckResult> {
  if (settings().signIn.kind === "none") return fine("none needed");
  const rows = await readSigningKeys(await store());
  const good = rows.filter((row) => verifies(row, Date.now()));
  const lost = good.filter((row) => !openKey(row)).map(({ kid }) => kid);
  if (lost.length === 0) return fine(`${good.length} of ${rows.length} in use`);
  return fault(
    `encrypted with another APP_SECRET: ${lost.join(", ")}`,
    "Set that secret as APP_SECRET_PREVIOUS, or revoke the keys with 'keys revoke'.",
  );
}
