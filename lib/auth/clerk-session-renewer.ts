import { createClerkClient } from "@clerk/nextjs/server";
import type { ClerkSettings } from "@/lib/config/clerk-settings";
import { processSingleton } from "@/lib/process-singleton";

/** The part of Clerk's library that renews sessions. Only a bundler can load it, and leaves out what needs Next. */
export function sessionRenewer({ secretKey, publishableKey, apiUrl }: ClerkSettings) {
  return processSingleton("Clerk's renewal of sessions", () =>
    createClerkClient({
      secretKey,
      publishableKey,
      telemetry: { disabled: true },
      ...(apiUrl ? { apiUrl } : {}),
    }),
  );
}
