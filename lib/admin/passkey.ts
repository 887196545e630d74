import { InvalidArgumentError } from "commander";
import { findAccount } from "@/lib/accounts/accounts";
import { shellAct } from "@/lib/admin/act";
import { asTable } from "@/lib/admin/print";
import { describePasskey, listPasskeys, removePasskeys } from "@/lib/auth/passkeys/passkeys";
import { ApiError } from "@/lib/http/errors";

export const passkeyActs = {
  list: shellAct({
    usage: "list <email>",
    words: "list the passkeys, oldest first",
    async run({ db }, { email }: { email: string }) {
      const { id } = await findAccount(db, email);
      const passkeys = (await listPasskeys(db, id)).map(({ id, ...passkey }) => ({
        id,
        ...describePasskey(passkey),
      }));
      return { json: passkeys, text: asTable(passkeys, "No passkeys found.") };
    },
  }),
  remove: shellAct({
    usage: "remove <email> [id]",
    words: "remove one passkey, or all with --all; the owner gets a mail and can sign in with a code",
    fields: { all: { option: "--all", words: "every passkey" } },
    async run({ db, nowMs }, { email, id, all }: { email: string; id?: string; all?: boolean }) {
      if (Boolean(all) === (id !== undefined))
        throw new InvalidArgumentError("pass an id from 'passkey list', or --all");
      const account = await findAccount(db, email);
      const which = id === undefined ? "all" : { id };
      const removed = await removePasskeys(db, { by: "operator", account, which }, nowMs);
      if (removed === 0 && !all) {
        throw new ApiError("not_found", {
          message: "This account has no such passkey.",
          hint: "See 'passkey list'.",
        });
      }
      const text = all ? `Removed the passkeys of ${email}.` : `Removed ${id}.`;
      return { json: { email, removed: id ?? "all" }, text };
    },
  }),
};
