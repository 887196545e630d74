import { keyRing } from "@/lib/auth/keys/key-ring";
import { resealKeys } from "@/lib/auth/keys/signing-keys";
import { settings } from "@/lib/config/settings";
import { mendStore } from "@/lib/db/mend-store";
import { migratedStore } from "@/lib/db/store";
import { resealWebhooks } from "@/lib/events/webhooks";
import { ensureLinkKeys } from "@/lib/mail/links/link-keys";

/**
 * Migrates and mends the store, and seals what it keeps sealed with the current `APP_SECRET`. Loads the keys, so that no request waits
 * for them.
 */
export async function prepareStore(): Promise<void> {
  const db = await migratedStore();
  await mendStore(db);
  await resealKeys(db);
  if (settings().signIn.kind !== "none") await keyRing().signing(Date.now());
  await ensureLinkKeys(db);
  await resealWebhooks(db, Date.now());
}
