import { findAccount } from "@/lib/accounts/accounts";
import type { AdminCommand } from "@/lib/admin/command";
import { asTable } from "@/lib/admin/print";
import { describePasskey, listPasskeys, removePasskeys } from "@/lib/auth/passkeys/passkeys";
import { ApiError } from "@/lib/http/errors";

/** `passkey list|remove`. */
export function addPasskeyCommands(program: AdminCommand): void {
  const passkey = program.command("passkey").description("the passkeys of an account, under local sign-in");

  passkey.add("list <email>", "list the passkeys, oldest first").does(async ({ db }, email: string) => {
    const { id } = await findAccount(db, email);
    const passkeys = (await listPasskeys(db, id)).map(({ id, ...passkey }) => ({
      id,
      ...describePasskey(passkey),
    }));
    return { json: passkeys, text: asTable(passkeys, "No passkeys found.") };
  });

  const remove = passkey.add(
    "remove <email> [id]",
    "remove one passkey, or all with --all; the owner gets a mail and can sign in with a code",
  );
  remove
    .option("--all", "every passkey")
    .does(async ({ db }, email: string, id: string | undefined, { all }: { all?: true }) => {
      if (Boolean(all) === (id !== undefined))
        remove.error("error: pass an id from 'passkey list', or --all");
      const account = await findAccount(db, email);
      const which = id === undefined ? "all" : { id };
      const removed = await removePasskeys(db, { by: "operator", account, which }, Date.now());
      if (removed === 0 && !all) {
        throw new ApiError("not_found", {
          message: "This account has no such passkey.",
          hint: "See 'passkey list'.",
        });
      }
      const text = all ? `Removed the passkeys of ${email}.` : `Removed ${id}.`;
      return { json: { email, removed: id ?? "all" }, text };
    });
}
