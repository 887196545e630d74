import { requireOwner } from "@/lib/accounts/owner";
import { exportPerson } from "@/lib/accounts/person";
import { store } from "@/lib/db/store";
import { form } from "@/lib/http/form";
import { actions, pages } from "@/lib/http/pages";

/** Sends the owner all data stored about the account, as indented JSON in a file named after the day. */
export const POST = form(
  actions.exportPerson,
  () => pages.home.path,
  async (submission) => {
    const { nowMs } = submission;
    const { account } = await requireOwner(submission, submission.field("account"));
    const kept = await exportPerson(await store(), account.email, nowMs);
    const day = new Date(nowMs).toISOString().slice(0, 10);
    return {
      status: 200,
      body: `${JSON.stringify(kept, null, 2)}\n`,
      mediaType: "application/json",
      headers: ["content-disposition", `attachment; filename="corner-office-${day}.json"`],
    };
  },
);
