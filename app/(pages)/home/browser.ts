import { tellMoments } from "../browser/clock";
import { copyOnClick } from "./browser/copy";
import { keepCurrent } from "./browser/keep-current";
import { runPasskeys } from "./browser/passkeys";

/* The script of home. Without it buttons send forms, times are in UTC, and what needs a script is hidden. */

tellMoments();
copyOnClick();
runPasskeys();
keepCurrent();
