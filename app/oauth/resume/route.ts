import { connectEndpoints } from "@/lib/http/pages";
import { connectEndpoint } from "@/lib/oauth/provider-bridge";

/** Where the browser goes on once its owner has answered: back to the app. */
export const GET = connectEndpoint(connectEndpoints.resume);
