import { tellMoments } from "./browser/clock";
import { sendWholeCode } from "./browser/code";
import { waitToSendAgain } from "./browser/send-again";
import { lookAgain } from "./browser/try-again";

/*
 * What a page with a form does where there is JavaScript: `npm run bundle` makes public/pages.js of it. Without it
 * every form is sent by its button, and moments are told in UTC.
 */

tellMoments();
sendWholeCode();
waitToSendAgain();
lookAgain();
