import type { Handlers } from "@/app/answer-each";
import { connectEndpoints } from "@/lib/http/register/oauth";
import { connectEndpoint } from "@/lib/oauth/endpoint";
import { register } from "@/lib/oauth/registration";

const { registration, ...ofTheLibrary } = connectEndpoints;

/** The handlers of the authorization server. */
export const oauthHandlers: Handlers = new Map([
  ...Object.values(ofTheLibrary).map((endpoint) => [endpoint.path, connectEndpoint(endpoint)] as const),
  [registration.path, register],
]);
