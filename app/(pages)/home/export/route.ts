import { ownerForm } from "@/lib/accounts/owner-form";
import { exportPerson } from "@/lib/accounts/person";
import { store } from "@/lib/db/store";
import { actions } from "@/lib/http/pages";

/** Sends the owner all data stored about the account, as indented JSON in a file named after the day. */
export const POST = ownerForm(actions.exportPerson, async ({ nowMs }, { account }) => {
  const kept = await exportPerson(await store(), account.email, nowMs);
  const day = new Date(nowMs).toISOString().slice(0, 10);
  return {
    status: 200,
    body: `${JSON.stringify(kept, null, 2)}\n`,
    mediaType: "application/json",
    headers: ["content-disposition", `attachment; filename="corner-office-${day}.json"`],
  };
});
