import { inKibibytes, oauthBounds } from "@/lib/config/limits";
import type { Call, SentHeaders } from "@/lib/http/call";
import { ApiError } from "@/lib/http/errors";
import { connectEndpoints, isTokenPath } from "@/lib/http/register/oauth";
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
  "dpop_jkt",
  "resource",
]);

/**
 * The request target for the library, which reads the query of authorization requests alone, and resumes each at its own
 * path: we have one path, and the cookie names the request.
 */
export function targetFor({ path, query }: Pick<Call, "path" | "query">, uid = ""): string {
  const { authorization, resume, token } = connectEndpoints;
  if (isTokenPath(path)) return token.path;
  if (path === resume.path) return `${authorization.path}/${uid}`;
  return path === authorization.path ? `${path}?${readRequest(query)}` : path;
}

/** The body for the library. It gets no scope and no resource of a token: we grant the one, and bind the other ourselves. */
export function bodyFor({ path }: Pick<Call, "path">, form: URLSearchParams): string {
  if (path === connectEndpoints.device.path) return `${readRequest(form)}`;
  const read = new URLSearchParams(form);
  if (isTokenPath(path)) for (const name of ["scope", "resource"]) read.delete(name);
  return `${read}`;
}

/** The parameters that have a value: one without counts as left out (RFC 6749 §3.1, §3.2). */
export const withoutEmpty = (sent: URLSearchParams) =>
  new URLSearchParams([...sent].filter(([, value]) => value !== ""));

/** The headers that the library gets. Others, mainly `X-Forwarded-Host`, could make it use another address than ours. */
const forwarded = ["accept", "authorization", "content-type", "dpop"];

/**
 * The headers for the library, from a client that may say less or more than it needs. A body is a form if one of its types
 * says so, or none or only that it is text. A client may name itself by Basic alone (RFC 6749 §2.3.1): that goes into the
 * form, and the secret is ignored as in the form, because no client has one. Another scheme names no client: some programs
 * send the token that they renew with every request.
 */
export function readClientHeaders(headers: SentHeaders, form: URLSearchParams): Record<string, string> {
  const sent = Object.fromEntries([...headers].filter(([name]) => forwarded.includes(name)));
  const { "content-type": type = "", authorization = "", ...others } = sent;
  const client = readBasicName(authorization);
  const isNamed = client !== undefined && client === (form.get("client_id") ?? client);
  if (isNamed) form.set("client_id", client);
  const isForm = /^$|^text\/plain\b|(?:^|,)\s*application\/x-www-form-urlencoded\b/i.test(type);
  return {
    ...others,
    ...(/^basic\b/i.test(authorization) && !isNamed && { authorization }),
    "content-type": isForm ? "application/x-www-form-urlencoded" : type,
  };
}

function readBasicName(authorization: string): string | undefined {
  const [, encoded] = /^basic ([\w+/]+={0,2})$/i.exec(authorization) ?? [];
  const [, name] = /^([^:]+):/.exec(Buffer.from(encoded ?? "", "base64").toString()) ?? [];
  try {
    return name && decodeURIComponent(name.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}

/**
 * Reads the parameters that are stored until the owner answers. The only scope is granted, whatever others the client
 * asks for (RFC 6749 §3.3). Throws an {@link ApiError} if they are too large.
 */
function readRequest(sent: URLSearchParams): URLSearchParams {
  const read = new URLSearchParams([...withoutEmpty(sent)].filter(([name]) => knownParameters.has(name)));
  const { requestBytes } = oauthBounds;
  const withoutClient = [...read].filter(([name]) => name !== "client_id");
  if (Buffer.byteLength(JSON.stringify(withoutClient)) > requestBytes) {
    throw new ApiError("too_large", {
      message: `The parameters of this request are larger than ${inKibibytes(requestBytes)}.`,
    });
  }
  const prompts = read.getAll("prompt").map(readPrompt);
  read.delete("prompt");
  for (const prompt of prompts) if (prompt) read.append("prompt", prompt);
  read.set("scope", accountScope);
  const resource = resolveResource(read.getAll("resource"));
  // The library refuses others.
  if (resource) read.set("resource", resource);
  return read;
}

/**
 * What to ask the owner, as far as it is known: every page shows which account answers and asks for consent, so other words
 * change nothing. `none` stays as it is: it asks for no page, and is refused next to another word (OpenID Connect §3.1.2.1).
 */
function readPrompt(sent: string): string {
  const words = sent.split(" ");
  return words.includes("none")
    ? sent
    : words.filter((word) => ["login", "consent"].includes(word)).join(" ");
}
