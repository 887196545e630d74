import { connectEndpoints } from "@/lib/http/pages";
import { connectEndpoint } from "@/lib/oauth/provider-bridge";

/** Where an app sends its owner's browser. */
export const GET = connectEndpoint(connectEndpoints.authorization);
