import { answerEach } from "@/app/handlers-by-path";
import { toPlatform } from "@/lib/http/platform";
import { wellKnownHandlers } from "../handlers";

export const { GET, HEAD, OPTIONS } = toPlatform(answerEach(wellKnownHandlers));
