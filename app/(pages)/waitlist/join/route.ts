import { parseEmailAddress } from "@/lib/accounts/email-address";
import { joinWaitlist } from "@/lib/accounts/waitlist";
import { waitlistBounds } from "@/lib/config/limits";
import { store } from "@/lib/db/store";
import { form, withProblem } from "@/lib/http/form";
import { actions, pages } from "@/lib/http/pages";
import { ownNetworkKey } from "@/lib/rate-limit/client-address";
import { counter } from "@/lib/rate-limit/rate-limit";
import { log } from "@/lib/runtime/log";

const page = pages.waitlist.path;

/** Joins the waitlist. The response is the same if the email is on it already or has an account. */
export const POST = form(
  actions.joinWaitlist,
  () => page,
  async ({ field, headers, nowMs }) => {
    const email = parseEmailAddress(field("email"));
    if (!email) return { to: withProblem(page, "email") };
    if (!(await mayJoin(headers))) return { to: withProblem(page, "network") };
    if (await joinWaitlist(await store(), email, nowMs)) return { to: `${page}?joined` };
    log().warn("the waitlist is full: no one can join until some are invited or removed");
    return { to: withProblem(page, "full") };
  },
);

async function mayJoin(headers: Headers): Promise<boolean> {
  const { ofOne, ofAllUnknown, windowSeconds } = waitlistBounds.joins;
  const network = ownNetworkKey(headers);
  const of = network
    ? counter("waitlist", ofOne, { windowSeconds })
    : counter("waitlist-of-unknown", ofAllUnknown, { windowSeconds });
  return (await of.consume(network ?? "all", performance.now())).allowed;
}
