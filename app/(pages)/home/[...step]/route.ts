import { answerEach } from "@/app/handlers-by-path";
import { toPlatform } from "@/lib/http/platform";
import { ownerHandlers } from "../forms";

export const { POST } = toPlatform(answerEach(Object.values(ownerHandlers)));
