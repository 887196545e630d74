import { answerEach } from "@/app/handlers-by-path";
import { oauthHandlers } from "@/app/oauth/handlers";
import { toPlatform } from "@/lib/http/platform";

export const { POST, OPTIONS } = toPlatform(answerEach(oauthHandlers));
