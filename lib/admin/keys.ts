import type { AdminCommand } from "@/lib/admin/command";
import { asTable, type Result } from "@/lib/admin/print";
import {
  findSigner,
  openKey,
  readSigningKeys,
  revokeKey,
  rotateKeys,
  type SigningKeyRow,
  verifies,
} from "@/lib/auth/keys/signing-keys";
import { asIso } from "@/lib/config/instants";
import type { Db } from "@/lib/db/store";

/** `keys list|rotate|revoke`. */
export function addKeyCommands(program: AdminCommand): void {
  const keys = program.command("keys").description("the keys that sign session tokens");

  keys.add("list", "list the keys, oldest first").does(({ db }) => list(db));

  keys
    .add(
      "rotate",
      "add a key that signs new tokens in a minute; the others verify until their last token expires",
    )
    .does(async ({ db }) => {
      await rotateKeys(db, Date.now());
      return list(db);
    });

  keys
    .add("revoke <kid>", "reject every token that a key has signed")
    .does(async ({ db, confirm }, kid: string) => {
      const signed = "Everyone who has a token that it signed must renew it or sign in again.";
      const isKnown = (await readSigningKeys(db)).some((key) => key.kid === kid);
      if (isKnown) await confirm(`This revokes the key ${kid}, for good. ${signed}`);
      await revokeKey(db, kid, Date.now());
      const { json, text } = await list(db);
      return { json, text: `Revoked ${kid}. ${signed}\n\n${text}` };
    });
}

async function list(db: Db): Promise<Result> {
  const nowMs = Date.now();
  const rows = await readSigningKeys(db);
  const signer = findSigner(rows, nowMs);
  const listed = rows.map((row) => ({
    kid: row.kid,
    state: describeState(row, row === signer, nowMs),
    madeAt: asIso(row.made_at_ms),
  }));
  return { json: listed, text: asTable(listed, "No keys yet. The first token creates one.") };
}

function describeState(row: SigningKeyRow, isSigner: boolean, nowMs: number): string {
  const { signs_from_ms, verifies_until_ms, revoked_at_ms } = row;
  if (revoked_at_ms !== null) return `revoked ${asIso(revoked_at_ms)}`;
  if (!verifies(row, nowMs)) return "expired";
  if (!openKey(row)) return "not readable with this APP_SECRET";
  if (isSigner) return "signs";
  if (verifies_until_ms !== null) return `verifies until ${asIso(verifies_until_ms)}`;
  return `signs from ${asIso(signs_from_ms ?? nowMs)}`;
}
