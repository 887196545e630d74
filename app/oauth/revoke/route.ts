import { connectEndpoints } from "@/lib/api/pages";
import { connectEndpoint } from "@/lib/connect/exchange";

export const POST = connectEndpoint(connectEndpoints.revocation);
export const OPTIONS = POST;
