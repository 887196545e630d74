import { type KeyObject, sign } from "node:crypto";
import { keyRing } from "@/lib/auth/key-ring";

/**
 * Makes a key for the library that signs with the key ring: the key that the token's header names signs it, so the
 * library never holds a private key.
 *
 * @param publicKey - the public key of any key in the ring; the library reads the key type from it
 */
export function makeRingKey(
  { ExternalSigningKey }: Pick<typeof import("oidc-provider"), "ExternalSigningKey">,
  publicKey: KeyObject,
) {
  class RingKey extends ExternalSigningKey {
    override get alg(): string {
      return "RS256";
    }

    override keyObject(): KeyObject {
      return publicKey;
    }

    override async sign(data: Uint8Array): Promise<Buffer> {
      const [header = ""] = Buffer.from(data).toString().split(".");
      const { kid } = JSON.parse(Buffer.from(header, "base64url").toString()) as { kid: string };
      const key = await keyRing().find(kid, Date.now());
      if (!key) throw new Error("the key that was to sign has been revoked");
      return sign("sha256", data, key.privateKey);
    }
  }
  return new RingKey();
}
