import { connectEndpoints } from "@/lib/api/pages";
import { register } from "@/lib/connect/registration";

export const POST = register(connectEndpoints.registration);
export const OPTIONS = POST;
