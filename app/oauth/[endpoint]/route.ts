import { answerEach } from "@/app/handlers-by-path";
import { oauthHandlers } from "../handlers";

export const { GET, HEAD, POST, OPTIONS } = answerEach(oauthHandlers);
