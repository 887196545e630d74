import { answerEach } from "@/app/handlers-by-path";
import { oauthHandlers } from "@/app/oauth/handlers";

export const { POST, OPTIONS } = answerEach(oauthHandlers);
