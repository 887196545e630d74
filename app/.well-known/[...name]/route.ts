import { answerEach } from "@/app/handlers-by-path";
import { wellKnownHandlers } from "../handlers";

export const { GET, HEAD, OPTIONS } = answerEach(wellKnownHandlers);
