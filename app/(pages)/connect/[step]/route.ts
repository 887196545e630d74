import { answerEach } from "@/app/handlers-by-path";
import { connectHandlers } from "../forms";

export const { POST } = answerEach(Object.values(connectHandlers));
