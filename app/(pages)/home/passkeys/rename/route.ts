import { ownerForm } from "@/lib/accounts/owner-form";
import { maxNameCharacters, renamePasskey } from "@/lib/auth/passkeys";
import { readableName } from "@/lib/auth/readable-name";
import { store } from "@/lib/db/store";
import { withProblem } from "@/lib/http/form";
import { actions } from "@/lib/http/pages";

const { page } = actions.renamePasskey;

/** Renames one of the owner's passkeys. */
export const POST = ownerForm(actions.renamePasskey, async ({ field, nowMs }, { account }) => {
  const [id, name] = [field("passkey"), readableName(field("name"))];
  if (!name || name.length > maxNameCharacters) {
    return { to: `${withProblem(page, "name")}#ways` };
  }
  await renamePasskey(await store(), account, { id, name }, nowMs);
  return { to: `${page}?renamed#ways` };
});
