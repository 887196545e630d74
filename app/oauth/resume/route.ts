import { connectEndpoints } from "@/lib/http/pages";
import { connectEndpoint } from "@/lib/oauth/provider-bridge";

/** Redirects the browser back to the app when the owner has answered. */
export const GET = connectEndpoint(connectEndpoints.resume);
