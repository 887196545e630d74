import { requireOwner } from "@/lib/accounts/owner";
import { maxNameCharacters, renamePasskey } from "@/lib/auth/passkeys";
import { store } from "@/lib/db/store";
import { form, withProblem } from "@/lib/http/form";
import { actions, pages } from "@/lib/http/pages";

const page = pages.home.path;

/** Renames one of the owner's passkeys. */
export const POST = form(
  actions.renamePasskey,
  () => page,
  async (submission) => {
    const { account } = await requireOwner(submission, submission.field("account"));
    const [id, name] = [submission.field("passkey"), submission.field("name")];
    if (name === "" || name.length > maxNameCharacters || /\p{C}/u.test(name)) {
      return { to: `${withProblem(page, "name")}#ways` };
    }
    await renamePasskey(await store(), account, { id, name }, submission.nowMs);
    return { to: `${page}?renamed#ways` };
  },
);
