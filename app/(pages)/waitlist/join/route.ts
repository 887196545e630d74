import { parseEmailAddress } from "@/lib/accounts/email-address";
import { joinWaitlist } from "@/lib/accounts/waitlist";
import { ownNetworkKey } from "@/lib/api/client-address";
import { actions, pages } from "@/lib/api/pages";
import { counter } from "@/lib/api/rate-limit";
import { form, withProblem } from "@/lib/pages/form";
import { log } from "@/lib/process/log";
import { waitlistBounds } from "@/lib/settings/limits";
import { store } from "@/lib/store/store";

const page = pages.waitlist.path;

/** Joins the waitlist. Who is on it, or has an account, gets the same answer. */
export const POST = form(
  actions.joinWaitlist,
  () => page,
  async ({ field, headers, nowMs }) => {
    const email = parseEmailAddress(field("email"));
    if (!email) return { to: withProblem(page, "email") };
    if (!(await mayJoin(headers))) return { to: withProblem(page, "network") };
    if (await joinWaitlist(await store(), email, nowMs)) return { to: `${page}?joined` };
    log().warn("the waitlist is full: nobody joins until some are invited or removed");
    return { to: withProblem(page, "full") };
  },
);

async function mayJoin(headers: Headers): Promise<boolean> {
  const { ofOne, ofAllUnknown, windowSeconds } = waitlistBounds.joins;
  const network = ownNetworkKey(headers);
  const of = network
    ? counter("waitlist", ofOne, { windowSeconds })
    : counter("waitlist-of-unknown", ofAllUnknown, { windowSeconds });
  return (await of.spend(network ?? "all", performance.now())).allowed;
}
