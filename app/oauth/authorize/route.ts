import { connectEndpoints } from "@/lib/http/pages";
import { connectEndpoint } from "@/lib/oauth/provider-bridge";

/** The authorization endpoint, to which an app redirects its owner's browser (RFC 6749 §3.1). */
export const GET = connectEndpoint(connectEndpoints.authorization);
