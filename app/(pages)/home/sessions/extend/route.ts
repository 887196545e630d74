import { ownerForm } from "@/lib/accounts/owner-form";
import { store } from "@/lib/db/store";
import { withProblem } from "@/lib/http/form";
import { actions } from "@/lib/http/pages";
import { giveAnotherWeek } from "@/lib/oauth/another-week";

/** Gives an app another week. Only its owner in the browser can: a token never extends itself. */
export const POST = ownerForm(actions.extendApp, async ({ field, nowMs }, { account }) => {
  const isExtended = await giveAnotherWeek(await store(), account, field("session"), nowMs);
  const { page } = actions.extendApp;
  return { to: isExtended ? `${page}?extended#sessions` : withProblem(page, "app-ended") };
});
