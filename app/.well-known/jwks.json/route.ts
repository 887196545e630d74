import { keyRing } from "@/lib/auth/key-ring";
import { publish } from "@/lib/docs/publication-handler";
import { publications } from "@/lib/http/pages";

/** The public keys that verify our tokens, including a key that will sign soon (RFC 7517 §5). */
export const GET = publish(
  publications.jwks,
  async () => {
    const keys = (await keyRing().published(Date.now())).map(({ kid, publicKey }) => ({
      ...publicKey.export({ format: "jwk" }),
      kid,
      alg: "RS256",
      use: "sig",
    }));
    return { type: "application/jwk-set+json", body: JSON.stringify({ keys }) };
  },
  { freshForMs: 0, maxAgeSeconds: 30 },
);
