import { writeCookie } from "@/lib/http/cookies";
import { form, withProblem } from "@/lib/http/form";
import { actions, pages } from "@/lib/http/pages";
import { consumeLookupLimit, holdDevice } from "@/lib/oauth/approval";
import { lifetimes } from "@/lib/oauth/lifetimes";

/**
 * Takes the code that a device shows, typed by whoever looks at it. A link cannot do this, and from the page that it
 * leads to nothing can be approved.
 */
export const POST = form(
  actions.findDevice,
  () => pages.connect.path,
  async ({ field, headers }) => {
    if (!(await consumeLookupLimit(headers))) return { to: withProblem(pages.connect.path, "codes") };
    const held = await holdDevice(field("user_code"));
    if (!held) return { to: withProblem(pages.connect.path, "code") };
    return { to: pages.connect.path, cookies: [writeCookie("office-request", held, lifetimes.deviceCode)] };
  },
);
