import { tellMoments } from "../browser/clock";
import { copyOnClick } from "./browser/copy";
import { keepFresh } from "./browser/fresh";
import { runPasskeys } from "./browser/passkeys";

/*
 * The script of home: `npm run bundle` builds public/home.js from it. Without JavaScript every form is sent by its
 * button, times are shown in UTC, and what only a script can do is not shown.
 */

tellMoments();
copyOnClick();
runPasskeys();
keepFresh();
