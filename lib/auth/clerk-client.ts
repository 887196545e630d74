import { createClerkClient } from "@clerk/nextjs/server";
import type { ClerkSettings } from "@/lib/config/clerk-settings";
import { settings } from "@/lib/config/settings";
import { processSingleton } from "@/lib/process-singleton";

/** Clerk's Backend API and the renewal of its sessions, with the keys from the settings. Only Clerk sign-in has one. */
export function clerkClient(): ReturnType<typeof createClerkClient> {
  return processSingleton("clerk", () => {
    const { secretKey, publishableKey, apiUrl } = settings().signIn as ClerkSettings;
    const ours = { secretKey, publishableKey, telemetry: { disabled: true } };
    return createClerkClient({ ...ours, ...(apiUrl ? { apiUrl } : {}) });
  });
}
