import { answerEach } from "@/app/handlers-by-path";
import { toPlatform } from "@/lib/http/platform";
import { oauthHandlers } from "../handlers";

export const { GET, HEAD, POST, OPTIONS } = toPlatform(answerEach(oauthHandlers));
