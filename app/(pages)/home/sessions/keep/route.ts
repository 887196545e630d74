import { ownerForm } from "@/lib/accounts/owner-form";
import { store } from "@/lib/db/store";
import { withProblem } from "@/lib/http/form";
import { actions } from "@/lib/http/pages";
import { keepApps } from "@/lib/oauth/keep-apps";

/** Gives all apps another 180 days. Only their owner in the browser can: a token never extends itself. */
export const POST = ownerForm(actions.keepApps, async ({ nowMs }, { account }) => {
  const { page } = actions.keepApps;
  const hasKept = await keepApps(await store(), account, nowMs);
  return { to: hasKept ? `${page}?kept#sessions` : withProblem(page, "no-apps") };
});
