import { inKibibytes, oauthBounds } from "@/lib/config/limits";
import { ApiError } from "@/lib/http/errors";
import { connectEndpoints } from "@/lib/http/pages";
import { accountScope, resolveResource } from "@/lib/oauth/resources";

/** The parameters of an authorization request that are read. Others are ignored (RFC 6749 §3.1) and not stored. */
const knownParameters = new Set([
  "client_id",
  "redirect_uri",
  "response_type",
  "response_mode",
  "state",
  "prompt",
  "code_challenge",
  "code_challenge_method",
  "resource",
]);

/**
 * The request target for the library, which reads the query of authorization requests alone, and resumes each at its own
 * path: we have one path, and the cookie names the request.
 */
export function targetFor({ pathname, search }: URL, uid = ""): string {
  const { authorization, resume } = connectEndpoints;
  if (pathname === resume.path) return `${authorization.path}/${uid}`;
  return pathname === authorization.path ? `${pathname}?${readRequest(search)}` : pathname;
}

/** The body for the library. It gets no scope and no resource of a token: we grant the one, and bind the other ourselves. */
export function bodyFor({ pathname }: URL, form: URLSearchParams): string {
  const { device, token } = connectEndpoints;
  if (pathname === device.path) return `${readRequest(`${form}`)}`;
  const read = new URLSearchParams(form);
  if (pathname === token.path) for (const name of ["scope", "resource"]) read.delete(name);
  return `${read}`;
}

/**
 * Reads the parameters that are stored until the owner answers. The only scope is granted, whatever others the client
 * asks for (RFC 6749 §3.3). Throws an {@link ApiError} if they are too large.
 */
function readRequest(text: string): URLSearchParams {
  const read = new URLSearchParams(
    [...new URLSearchParams(text)].filter(([name]) => knownParameters.has(name)),
  );
  const { requestBytes } = oauthBounds;
  const withoutClient = [...read].filter(([name]) => name !== "client_id");
  if (Buffer.byteLength(JSON.stringify(withoutClient)) > requestBytes) {
    throw new ApiError("too_large", {
      message: `The parameters of this request are larger than ${inKibibytes(requestBytes)}.`,
    });
  }
  // Copilot CLI sends it. The library does not know it, and our page always names the account that answers.
  read.delete("prompt", "select_account");
  read.set("scope", accountScope);
  const resource = resolveResource(read.getAll("resource"));
  // The library refuses others.
  if (resource) read.set("resource", resource);
  return read;
}
