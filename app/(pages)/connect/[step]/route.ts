import { answerEach } from "@/app/answer-each";
import { toPlatform } from "@/lib/http/platform";
import { connectHandlers } from "../forms";

export const { POST } = toPlatform(answerEach(Object.values(connectHandlers)));
