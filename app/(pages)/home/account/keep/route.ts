import { stay } from "@/lib/accounts/leaving";
import { ownerForm } from "@/lib/accounts/owner-form";
import { store } from "@/lib/db/store";
import { actions } from "@/lib/http/pages";

/** Takes the deletion of the owner's account back. */
export const POST = ownerForm(actions.stay, async ({ nowMs }, { account }) => {
  await stay(await store(), account, "owner", nowMs);
  return { to: `${actions.stay.page}?kept#leave` };
});
