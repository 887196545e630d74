import { createHash, randomBytes } from "node:crypto";

/** Makes a secret of 256 random bits, in base64url. */
export function mintSecret(): string {
  return randomBytes(32).toString("base64url");
}

/** Hashes a {@link mintSecret} for the store. A fast hash is enough, because the secret cannot be guessed. */
export function hashSecret(
  purpose:
    | "client"
    | "connect"
    | "invitation"
    | "request"
    | `operator-${"link" | "session"}`
    | "sign-in"
    | "waitlist",
  secret: string,
): string {
  return createHash("sha256").update(`corner-office:${purpose}:v1:${secret}`).digest("base64url");
}
