import { answerEach } from "@/app/handlers-by-path";
import { toPlatform } from "@/lib/http/platform";
import { waitlistHandlers } from "../forms";

export const { POST } = toPlatform(answerEach(Object.values(waitlistHandlers)));
