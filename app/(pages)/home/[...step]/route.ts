import { answerEach, byPath } from "@/app/answer-each";
import { toPlatform } from "@/lib/http/platform";
import { ownerForms } from "@/lib/http/register/forms";
import { ownerHandlers } from "../forms";

export const { POST } = toPlatform(answerEach(byPath(ownerForms, ownerHandlers)));
