import { publish } from "@/lib/docs/publish";
import { log } from "@/lib/process/log";
import { keyRing } from "@/lib/session/key-ring";

/** The public halves of the keys whose tokens are good, those that sign soon among them (RFC 7517 §5). */
export async function GET(request: Request): Promise<Response> {
  try {
    const keys = (await keyRing().published(Date.now())).map(({ kid, publicKey }) => ({
      ...publicKey.export({ format: "jwk" }),
      ...{ kid, alg: "RS256", use: "sig" },
    }));
    return publish(request, {
      type: "application/jwk-set+json",
      body: JSON.stringify({ keys }),
      headers: { "Cache-Control": "public, max-age=30" },
    });
  } catch (failure) {
    log().error({ err: failure }, "the signing keys could not be published");
    return new Response(null, { status: 503, headers: { "Cache-Control": "no-store", "Retry-After": "5" } });
  }
}
