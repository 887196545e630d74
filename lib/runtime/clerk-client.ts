import { createClerkClient } from "@clerk/nextjs/server";
import type { ClerkSettings } from "@/lib/config/clerk-settings";
import { processSingleton } from "@/lib/process-singleton";

/** Clerk's library. It is large, so this file is imported on demand; only a bundler can load it, without Next's part. */
export function clerkClient({ secretKey, publishableKey, apiUrl }: ClerkSettings) {
  return processSingleton("clerk", () => {
    const ours = { secretKey, publishableKey, telemetry: { disabled: true } };
    return createClerkClient({ ...ours, ...(apiUrl ? { apiUrl } : {}) });
  });
}
