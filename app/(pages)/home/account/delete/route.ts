import { leave } from "@/lib/accounts/leaving";
import { ownerForm } from "@/lib/accounts/owner-form";
import { store } from "@/lib/db/store";
import { actions } from "@/lib/http/pages";

/** Deletes the owner's account in a day, if the owner has proved in the last five minutes who they are. */
export const POST = ownerForm(actions.leave, async ({ nowMs }, { account }) => {
  await leave(await store(), account, nowMs);
  return { to: `${actions.leave.page}#leave` };
});
