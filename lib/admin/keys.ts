import { shellAct } from "@/lib/admin/act";
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

export const keyActs = {
  list: shellAct({
    usage: "list",
    words: "list the keys, oldest first",
    run: ({ db }) => list(db),
  }),
  rotate: shellAct({
    usage: "rotate",
    words: "add a key that signs new tokens in a minute; the others verify until their last token expires",
    async run({ db, nowMs }) {
      await rotateKeys(db, nowMs);
      return list(db);
    },
  }),
  revoke: shellAct({
    usage: "revoke <kid>",
    words: "reject every token that a key has signed",
    async run({ db, confirm }, { kid }: { kid: string }) {
      const signed = "Everyone who has a token that it signed must renew it or sign in again.";
      const isKnown = (await readSigningKeys(db)).some((key) => key.kid === kid);
      if (isKnown) await confirm(`This revokes the key ${kid}, for good. ${signed}`);
      await revokeKey(db, kid, Date.now());
      const { json, text } = await list(db);
      return { json, text: `Revoked ${kid}. ${signed}\n\n${text}` };
    },
  }),
};

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
