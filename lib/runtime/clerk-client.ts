import { createClerkClient } from "@clerk/nextjs/server";
import type { ClerkSettings } from "@/lib/config/clerk-settings";
import { perProcess } from "@/lib/per-process";

/** Clerk's library. It is large, so this file is imported on demand; only a bundler can load it, without Next's part. */
export function clerkClient({ secretKey, publishableKey, apiUrl }: ClerkSettings) {
  return perProcess("clerk", () => {
    const ours = { secretKey, publishableKey, telemetry: { disabled: true } };
    return createClerkClient({ ...ours, ...(apiUrl ? { apiUrl } : {}) });
  })();
}
