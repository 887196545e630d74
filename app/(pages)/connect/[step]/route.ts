import { answerEach, byPath } from "@/app/answer-each";
import { toPlatform } from "@/lib/http/platform";
import { connectForms } from "@/lib/http/register/forms";
import { connectHandlers } from "../forms";

export const { POST } = toPlatform(answerEach(byPath(connectForms, connectHandlers)));
