import { toPlatform } from "@/lib/http/platform";
import { pages } from "@/lib/http/register/pages";
import { handlerAt } from "../routes";

/** What has no folder of its own in `app/`: publications, documents, and the steps of sign-in, apps and owners. */
export const { GET, POST, OPTIONS } = toPlatform((call) =>
  handlerAt((call.route ?? pages.nothingHere).path)(call),
);
