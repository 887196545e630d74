import { connectEndpoints } from "@/lib/http/pages";
import { register } from "@/lib/oauth/registration";

export const POST = register(connectEndpoints.registration);
export const OPTIONS = POST;
