import { writeCookie } from "@/lib/http/cookies";
import { form, withProblem } from "@/lib/http/form";
import { actions, pages } from "@/lib/http/pages";
import { startDeviceApproval } from "@/lib/oauth/approval";
import { lifetimes } from "@/lib/oauth/token-lifetimes";

/**
 * Takes the code that a person reads off a device and types. A link cannot do that: it only leads to the page with the
 * code field, where nothing can be approved. There are 20^8 codes, and each lives for ten minutes: the thirty guesses of
 * the limit of forms find a given code with a probability of 1 in 850 million (RFC 8628 §5.1).
 */
export const POST = form(
  actions.findDevice,
  () => pages.connect.path,
  async ({ field }) => {
    const cookieValue = await startDeviceApproval(field("user_code"));
    if (!cookieValue) return { to: withProblem(pages.connect.path, "code") };
    return {
      to: pages.connect.path,
      cookies: [writeCookie("office-request", cookieValue, lifetimes.deviceCode)],
    };
  },
);
