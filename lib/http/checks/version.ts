import type { Call } from "@/lib/http/call";
import { ApiError } from "@/lib/http/errors";

/** Refuses an `API-Version` that is not supported. */
export function requireVersion1({ headers }: Call): void {
  const version = headers.get("api-version");
  if (version === null || /^[ \t]*1[ \t]*$/.test(version)) return;
  throw new ApiError("invalid_request", {
    message: "The API-Version header names a version that is not supported.",
    hint: "Send 'API-Version: 1', or leave the header out.",
  });
}
