import { connectEndpoints } from "@/lib/api/pages";
import { connectEndpoint } from "@/lib/connect/exchange";

/** Where the browser goes on once its owner has answered: back to the app. */
export const GET = connectEndpoint(connectEndpoints.resume);
