import { createHash } from "node:crypto";

/** The hash of an id, as it is stored. A fast hash is enough, because ids are long and random. */
export function hash(id: string): string {
  return createHash("sha256").update(`corner-office:connect:v1:${id}`).digest("base64url");
}
