import { answerEach } from "@/app/handlers-by-path";
import { documentHandlers } from "../handlers";

export const { GET, HEAD, OPTIONS } = answerEach(documentHandlers);
