import { inKibibytes, oauthBounds } from "@/lib/config/limits";
import { ApiError } from "@/lib/http/errors";
import { connectEndpoints } from "@/lib/http/pages";
import { accountScope } from "@/lib/oauth/resources";

/** The parameters of an authorization request that are read. Others are ignored (RFC 6749 §3.1) and not stored. */
const knownParameters = new Set([
  "client_id",
  "redirect_uri",
  "response_type",
  "response_mode",
  "scope",
  "state",
  "prompt",
  "code_challenge",
  "code_challenge_method",
  "resource",
]);

/**
 * The request target for the library, which reads the query of authorization requests alone, and resumes each at its own
 * path: we have one path, and the cookie names the request. Adds the only scope if an app names none, and ignores
 * `openid`, which OpenID libraries add (RFC 6749 §3.3).
 */
export function targetFor({ pathname, search }: URL, uid = ""): string {
  const { authorization, resume } = connectEndpoints;
  if (pathname === resume.path) return `${authorization.path}/${uid}`;
  if (pathname !== authorization.path) return pathname;
  const parameters = keepKnownParameters(search);
  // Copilot CLI sends it. The library does not know it, and our page always names the account that answers.
  parameters.delete("prompt", "select_account");
  const scopes = (parameters.get("scope") ?? "").split(" ").filter((scope) => scope && scope !== "openid");
  parameters.set("scope", scopes.join(" ") || accountScope);
  return `${pathname}?${parameters}`;
}

/** Keeps the parameters that are stored until the owner answers. Throws an {@link ApiError} if they are too large. */
export function keepKnownParameters(text: string): URLSearchParams {
  const known = [...new URLSearchParams(text)].filter(([name]) => knownParameters.has(name));
  const withoutClient = known.filter(([name]) => name !== "client_id");
  const { requestBytes } = oauthBounds;
  if (Buffer.byteLength(JSON.stringify(withoutClient)) > requestBytes) {
    throw new ApiError("too_large", {
      message: `The parameters of this request are larger than ${inKibibytes(requestBytes)}.`,
    });
  }
  return new URLSearchParams(known);
}
