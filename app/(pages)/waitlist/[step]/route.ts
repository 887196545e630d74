import { answerEach } from "@/app/handlers-by-path";
import { waitlistHandlers } from "../forms";

export const { POST } = answerEach(Object.values(waitlistHandlers));
