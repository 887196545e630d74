import { health } from "@/lib/health";
import { createOperationHandlers } from "@/lib/http/handler";
import { operations } from "@/lib/http/operations";

/** Answers from nothing but itself: no store, no account. */
export const { GET, HEAD, OPTIONS } = createOperationHandlers(operations.health, () => health);
