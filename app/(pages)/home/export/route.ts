import { requireOwner } from "@/lib/accounts/owner";
import { exportPerson } from "@/lib/accounts/person";
import { store } from "@/lib/db/store";
import { readFields, redirectTo, withProblem } from "@/lib/http/form";
import { createHandler } from "@/lib/http/handler";
import { actions, pages } from "@/lib/http/pages";

/** Sends the owner all data stored about the account, as a file. */
export const POST = createHandler(
  actions.exportPerson,
  async (call) => {
    const { account } = await requireOwner(call, readFields(call)("account"));
    const kept = await exportPerson(await store(), account.email, call.nowMs);
    return {
      status: 200,
      body: kept,
      headers: ["content-disposition", 'attachment; filename="corner-office.json"'],
    };
  },
  {
    renderError: ({ status }) =>
      redirectTo({ to: withProblem(pages.home.path, status === 409 ? "account" : "export") }),
  },
);
