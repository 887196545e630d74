import { connectEndpoints } from "@/lib/http/pages";
import { connectEndpoint } from "@/lib/oauth/provider-bridge";

export const POST = connectEndpoint(connectEndpoints.token);
export const OPTIONS = POST;
