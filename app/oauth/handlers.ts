import type { RouteHandler } from "@/lib/http/handler";
import { connectEndpoints } from "@/lib/http/register/oauth";
import { connectEndpoint } from "@/lib/oauth/endpoint";
import { register } from "@/lib/oauth/registration";

const { registration, ...ofTheLibrary } = connectEndpoints;

/** The handlers of the authorization server. */
export const oauthHandlers: readonly RouteHandler[] = [
  ...Object.values(ofTheLibrary).map(connectEndpoint),
  register,
];
