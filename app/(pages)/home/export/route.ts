import { requireOwner } from "@/lib/accounts/owner";
import { exportPerson } from "@/lib/accounts/person";
import { store } from "@/lib/db/store";
import { readFields, redirectTo, withProblem } from "@/lib/http/form";
import { createHandler } from "@/lib/http/handler";
import { actions, pages } from "@/lib/http/pages";

/** Sends the owner all data stored about the account, as indented JSON in a file named after the day. */
export const POST = createHandler(
  actions.exportPerson,
  async (call) => {
    const { account } = await requireOwner(call, readFields(call)("account"));
    const kept = await exportPerson(await store(), account.email, call.nowMs);
    const day = new Date(call.nowMs).toISOString().slice(0, 10);
    return {
      status: 200,
      body: `${JSON.stringify(kept, null, 2)}\n`,
      mediaType: "application/json",
      headers: ["content-disposition", `attachment; filename="corner-office-${day}.json"`],
    };
  },
  {
    renderError: ({ status }) =>
      redirectTo({ to: withProblem(pages.home.path, status === 409 ? "account" : "export") }),
  },
);
