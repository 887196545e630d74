import { writeCookie } from "@/lib/http/cookies";
import { form, withProblem } from "@/lib/http/form";
import { actions, pages } from "@/lib/http/pages";
import { consumeLookupLimit, startDeviceApproval } from "@/lib/oauth/approval";
import { lifetimes } from "@/lib/oauth/lifetimes";

/**
 * Takes the code that a person reads off a device and types. A link cannot do that: it only leads to the page with the
 * code field, where nothing can be approved.
 */
export const POST = form(
  actions.findDevice,
  () => pages.connect.path,
  async ({ field, headers }) => {
    if (!(await consumeLookupLimit(headers))) return { to: withProblem(pages.connect.path, "codes") };
    const cookieValue = await startDeviceApproval(field("user_code"));
    if (!cookieValue) return { to: withProblem(pages.connect.path, "code") };
    return {
      to: pages.connect.path,
      cookies: [writeCookie("office-request", cookieValue, lifetimes.deviceCode)],
    };
  },
);
