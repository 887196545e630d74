import { requireOwner } from "@/lib/accounts/owner";
import { maxNameCharacters, renamePasskey } from "@/lib/auth/passkeys";
import { readableName } from "@/lib/auth/readable-name";
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
    const [id, name] = [submission.field("passkey"), readableName(submission.field("name"))];
    if (!name || name.length > maxNameCharacters) {
      return { to: `${withProblem(page, "name")}#ways` };
    }
    await renamePasskey(await store(), account, { id, name }, submission.nowMs);
    return { to: `${page}?renamed#ways` };
  },
);
