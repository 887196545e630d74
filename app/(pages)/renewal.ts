import { actions, pages } from "@/lib/http/pages";
import type { Renewal } from "./browser/session";

/** What an open page does for a session that we renew. */
export const renewal: Renewal = {
  renewsAt: actions.renewSession.path,
  whenOver: `${pages.signIn.path}?problem=ended`,
};
