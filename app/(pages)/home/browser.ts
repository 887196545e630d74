import { tellMoments } from "../browser/clock";
import { sendOnce } from "../browser/send-once";
import { copyOnClick } from "./browser/copy";
import { forgetOutcome } from "./browser/forget-outcome";
import { keepCurrent } from "./browser/keep-current";
import { runPasskeys } from "./browser/passkeys";
import { tellTimeZone } from "./browser/time-zone";

/* The script of home. Without it buttons send forms, times are in UTC or the zone that is known, and what needs a script is hidden. */

tellMoments();
sendOnce();
forgetOutcome();
copyOnClick();
runPasskeys();
tellTimeZone();
keepCurrent();
