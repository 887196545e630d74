import { answerEach } from "@/app/handlers-by-path";
import { toPlatform } from "@/lib/http/platform";
import { documentHandlers } from "../handlers";

export const { GET, HEAD, OPTIONS } = toPlatform(answerEach(documentHandlers));
