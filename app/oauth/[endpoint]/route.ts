import { handlerByPath } from "@/lib/http/handler-by-path";
import { connectEndpoints } from "@/lib/http/pages";
import { connectEndpoint } from "@/lib/oauth/provider-bridge";
import { register } from "@/lib/oauth/registration";

const { authorization, resume, token, device, revocation, registration } = connectEndpoints;

/** The endpoints of the authorization server. Their register says which methods each accepts. */
export const GET = handlerByPath(connectEndpoints, {
  authorization: connectEndpoint(authorization),
  resume: connectEndpoint(resume),
  token: connectEndpoint(token),
  device: connectEndpoint(device),
  revocation: connectEndpoint(revocation),
  registration: register(registration),
});

export { GET as OPTIONS, GET as POST };
