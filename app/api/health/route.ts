import { endpoint } from "@/lib/api/endpoint";
import { operations } from "@/lib/api/operations";
import { health } from "@/lib/health";

/** Answers from nothing but itself: no store, no account. */
export const { GET, HEAD, OPTIONS } = endpoint(operations.health, () => health);
