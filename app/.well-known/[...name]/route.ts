import { answerEach } from "@/app/answer-each";
import { toPlatform } from "@/lib/http/platform";
import { wellKnownHandlers } from "../handlers";

export const { GET, HEAD, OPTIONS } = toPlatform(answerEach(wellKnownHandlers));
