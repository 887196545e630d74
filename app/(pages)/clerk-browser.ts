import { mountClerk } from "./browser/clerk";

/* The script of pages with one of Clerk's components: `npm run bundle` builds public/clerk.js from it. */

void mountClerk();
