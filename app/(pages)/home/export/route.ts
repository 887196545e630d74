import { requireOwner } from "@/lib/accounts/owner";
import { exportPerson } from "@/lib/accounts/person";
import { actions, pages } from "@/lib/api/pages";
import { goTo, readFields, withProblem } from "@/lib/pages/form";
import { hall } from "@/lib/pages/hall";
import { store } from "@/lib/store/store";

/** Hands its owner all that is kept about the account, as a file. */
export const POST = hall(
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
    say: ({ status }) => goTo({ to: withProblem(pages.home.path, status === 409 ? "account" : "export") }),
  },
);
