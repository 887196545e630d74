import { tellMoments } from "./browser/clock";
import { sendWholeCode } from "./browser/code";
import { offerPasskey } from "./browser/passkey-sign-in";
import { waitToSendAgain } from "./browser/send-again";
import { sendOnce } from "./browser/send-once";
import { retryPage } from "./browser/try-again";

/* The script of pages with a form. Without it every form is sent by its button, and times are shown in UTC. */

tellMoments();
sendOnce();
sendWholeCode();
waitToSendAgain();
retryPage();
offerPasskey();
