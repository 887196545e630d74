import { answerEach, byPath } from "@/app/answer-each";
import { toPlatform } from "@/lib/http/platform";
import { waitlistForms } from "@/lib/http/register/forms";
import { waitlistHandlers } from "../forms";

export const { POST } = toPlatform(answerEach(byPath(waitlistForms, waitlistHandlers)));
