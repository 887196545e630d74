import { actions, pages } from "@/lib/http/pages";
import type { Renewal } from "./browser/session";

/** How an open page renews a session of local sign-in. */
export const renewal: Renewal = {
  renewsAt: actions.renewSession.path,
  whenOver: `${pages.signIn.path}?problem=ended`,
};
