import { answerEach } from "@/app/answer-each";
import { toPlatform } from "@/lib/http/platform";
import { ownerHandlers } from "../forms";

export const { POST } = toPlatform(answerEach(Object.values(ownerHandlers)));
