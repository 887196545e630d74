import { answerEach } from "@/app/answer-each";
import { toPlatform } from "@/lib/http/platform";
import { waitlistHandlers } from "../forms";

export const { POST } = toPlatform(answerEach(Object.values(waitlistHandlers)));
