import { health } from "@/lib/health";
import { handleOperation } from "@/lib/http/handler";
import { operations } from "@/lib/http/register/operations";

/** Uses no store and no account. */
const answer = { status: 200, body: JSON.stringify(health), mediaType: "application/json" };

export const { GET, HEAD, OPTIONS } = handleOperation(operations.health, {}, () => answer);
