import { ApiError } from "@/lib/api/errors";
import { publications } from "@/lib/api/pages";
import { retryAfterOutage } from "@/lib/api/spread";
import { publish } from "@/lib/docs/publish";
import { log } from "@/lib/process/log";
import { keyRing } from "@/lib/session/key-ring";

/** The public halves of the keys whose tokens are good, those that sign soon among them (RFC 7517 §5). */
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
  { goodForMs: 0, maxAgeSeconds: 30 },
);

async function readKeys() {
  try {
    return await keyRing().published(Date.now());
  } catch (failure) {
    log().error({ err: failure }, "the signing keys could not be published");
    throw new ApiError("unavailable", { headers: retryAfterOutage() });
  }
}
