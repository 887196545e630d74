import { health } from "@/lib/health";
import { createApiHandlers } from "@/lib/http/handler";
import { operations } from "@/lib/http/register/operations";

/** Uses no store and no account. */
export const { GET, HEAD, OPTIONS } = createApiHandlers(operations.health, () => ({
  status: 200,
  body: health,
}));
