import { answerEach, byPath } from "@/app/answer-each";
import { toPlatform } from "@/lib/http/platform";
import { signInForms } from "@/lib/http/register/forms";
import { signInHandlers } from "../forms";

export const { GET, HEAD, POST } = toPlatform(answerEach(byPath(signInForms, signInHandlers)));
