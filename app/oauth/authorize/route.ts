import { connectEndpoints } from "@/lib/api/pages";
import { connectEndpoint } from "@/lib/connect/exchange";

/** Where an app sends its owner's browser. */
export const GET = connectEndpoint(connectEndpoints.authorization);
