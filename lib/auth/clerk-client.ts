import type { ClerkClient } from "@clerk/backend";
import type { ClerkSettings } from "@/lib/config/clerk-settings";
import { settings } from "@/lib/config/settings";
import { processSingleton } from "@/lib/process-singleton";
import { loadLibrary } from "@/lib/runtime/load-library";

/** Clerk's library, which is large and is loaded on demand. Asked for only where Clerk signs in. */
export function clerkClient(): Promise<ClerkClient> {
  return processSingleton("clerk", async () => {
    const { createClerkClient } = await loadLibrary(() => import("@clerk/backend"));
    const { secretKey, publishableKey, apiUrl } = settings().signIn as ClerkSettings;
    const ours = { secretKey, publishableKey, telemetry: { disabled: true } };
    return createClerkClient({ ...ours, ...(apiUrl ? { apiUrl } : {}) });
  });
}
