import { keyRing } from "@/lib/auth/key-ring";
import { publish } from "@/lib/docs/publication-handler";
import { ApiError } from "@/lib/http/errors";
import { publications } from "@/lib/http/pages";
import { log } from "@/lib/runtime/log";

/** The public keys that verify our tokens, including a key that will sign soon (RFC 7517 §5). */
export const GET = publish(
  publications.jwks,
  async () => {
    const keys = (await readKeys()).map(({ kid, publicKey }) => ({
      ...publicKey.export({ format: "jwk" }),
      kid,
      alg: "RS256",
      use: "sig",
    }));
    return { type: "application/jwk-set+json", body: JSON.stringify({ keys }) };
  },
  { freshForMs: 0, maxAgeSeconds: 30 },
);

async function readKeys() {
  try {
    return await keyRing().published(Date.now());
  } catch (failure) {
    log().error({ err: failure }, "the signing keys could not be published");
    throw new ApiError("unavailable");
  }
}
