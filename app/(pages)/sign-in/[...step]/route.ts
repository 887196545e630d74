import { answerEach } from "@/app/handlers-by-path";
import { toPlatform } from "@/lib/http/platform";
import { signInHandlers } from "../forms";

export const { POST } = toPlatform(answerEach(Object.values(signInHandlers)));
