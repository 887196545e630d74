import { answerEach } from "@/app/answer-each";
import { toPlatform } from "@/lib/http/platform";
import { documentHandlers } from "../handlers";

export const { GET, HEAD, OPTIONS } = toPlatform(answerEach(documentHandlers));
