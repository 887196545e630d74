import { health } from "@/lib/health";
import { createOperationHandlers } from "@/lib/http/handler";
import { operations } from "@/lib/http/operations";

/** Uses no store and no account. */
export const { GET, HEAD, OPTIONS } = createOperationHandlers(operations.health, () => health);
