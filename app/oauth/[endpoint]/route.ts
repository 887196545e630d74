import { answerEach } from "@/app/answer-each";
import { toPlatform } from "@/lib/http/platform";
import { oauthHandlers } from "../handlers";

export const { GET, HEAD, POST, OPTIONS } = toPlatform(answerEach(oauthHandlers));
