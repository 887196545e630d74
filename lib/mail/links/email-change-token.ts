import { settings } from "@/lib/config/settings";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { pages } from "@/lib/http/register/pages";
import { isKeyedHash, keyedHash } from "@/lib/runtime/keyed-hash";

/*
 * The links about a change of an account's email: `<request>.<mailbox>.<HMAC>`. A request has both emails, so that no link
 * confirms another address than the one that it was mailed to.
 */

const purpose = "email-change:v1";

/** Which mailbox a link was mailed to: the old email's or the new one's. */
export type ChangeToken = { id: string; side: "from" | "to" };

/** The address of the page that asks its reader to confirm. */
export function emailChangeUrl({ id, side }: ChangeToken): string {
  const signed = `${id}.${side}`;
  return `${settings().appUrl}${pages.emailChange.path}?token=${signed}.${keyedHash(purpose, signed)}`;
}

/** Reads the token of a link; `undefined` if it is not valid. */
export function readChangeToken(token: string): ChangeToken | undefined {
  const [, id, side, proof = ""] = /^([\w-]{22})\.(from|to)\.([\w-]{43})$/.exec(token) ?? [];
  if (!id || !isKeyedHash(proof, purpose, `${id}.${side}`)) return undefined;
  return { id, side: side === "from" ? "from" : "to" };
}

/** The request that a link is about. */
export function findEmailChange(db: Db, id: string): Promise<Tables["email_changes"] | undefined> {
  return db.selectFrom("email_changes").selectAll().where("id", "=", id).executeTakeFirst();
}

/** Whether a request can still be confirmed. */
export function isWaiting(
  { changed_at_ms, until_ms }: Pick<Tables["email_changes"], "changed_at_ms" | "until_ms">,
  nowMs: number,
): boolean {
  return changed_at_ms === null && until_ms > nowMs;
}
