import { answerEach } from "@/app/answer-each";
import { toPlatform } from "@/lib/http/platform";
import { signInHandlers } from "../forms";

export const { GET, HEAD, POST } = toPlatform(answerEach(Object.values(signInHandlers)));
