import { endpoint } from "@/lib/api/endpoint";
import { operations } from "@/lib/api/operations";

/** Answers from nothing but itself: no store, no account. */
export const { GET, HEAD, OPTIONS } = endpoint(operations.health, () => ({
  ok: true,
  service: "corner-office-web",
  surface: "web",
  agent: "not-hosted",
}));
