import { answerEach } from "@/app/handlers-by-path";
import { signInHandlers } from "../forms";

export const { POST } = answerEach(Object.values(signInHandlers));
