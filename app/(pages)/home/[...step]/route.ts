import { answerEach } from "@/app/handlers-by-path";
import { ownerHandlers } from "../forms";

export const { POST } = answerEach(Object.values(ownerHandlers));
