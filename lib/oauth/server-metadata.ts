import { proofAlgorithms } from "@/lib/auth/tokens/proof";
import { settings } from "@/lib/config/settings";
import { connectEndpoints } from "@/lib/http/register/oauth";
import { documentPages } from "@/lib/http/register/pages";
import { unreached } from "@/lib/oauth/client-metadata-document";
import { clientDefaults } from "@/lib/oauth/clients";
import { accountScope } from "@/lib/oauth/resources";

/** The authorization server metadata (RFC 8414 §2). */
export function authorizationServerMetadata() {
  const { appUrl, connectRegistration } = settings();
  return {
    issuer: appUrl,
    authorization_endpoint: appUrl + connectEndpoints.authorization.path,
    token_endpoint: appUrl + connectEndpoints.token.path,
    device_authorization_endpoint: appUrl + connectEndpoints.device.path,
    revocation_endpoint: appUrl + connectEndpoints.revocation.path,
    ...(connectRegistration && { registration_endpoint: appUrl + connectEndpoints.registration.path }),
    jwks_uri: `${appUrl}/.well-known/jwks.json`,
    scopes_supported: [accountScope],
    response_types_supported: clientDefaults.response_types,
    response_modes_supported: ["query"],
    grant_types_supported: clientDefaults.grant_types,
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none"],
    revocation_endpoint_auth_methods_supported: ["none"],
    authorization_response_iss_parameter_supported: true,
    dpop_signing_alg_values_supported: proofAlgorithms,
    ...(acceptsMetadataDocuments() && { client_id_metadata_document_supported: true }),
    service_documentation: appUrl + documentPages.connectAnApp.path,
  };
}

/**
 * The same metadata, for libraries that know only OpenID Connect's path (RFC 8414 §5) and its two other required fields
 * (OpenID Connect Discovery 1.0 §3). Without `openid` in `scopes_supported`, it promises no ID token.
 */
export function openIdConfiguration() {
  return {
    ...authorizationServerMetadata(),
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
  };
}

/** The parameters of `WWW-Authenticate` that show a refused client how to get a token (RFC 9728 §5.1, RFC 6750 §3). */
export function authorizationHint(path: string): Record<string, string> {
  const metadata = `${settings().appUrl}/.well-known/oauth-protected-resource${path}`;
  return { resource_metadata: metadata, scope: accountScope };
}

/** The metadata of a protected resource, which names its authorization server (RFC 9728 §2). `""` is the whole service. */
export function protectedResourceMetadata(path: string) {
  const { appUrl } = settings();
  return {
    resource: appUrl + path,
    resource_name: "Corner Office",
    authorization_servers: [appUrl],
    scopes_supported: [accountScope],
    bearer_methods_supported: ["header"],
    dpop_signing_alg_values_supported: proofAlgorithms,
    resource_documentation: appUrl + documentPages.connectAnApp.path,
  };
}

const doubtMs = 10 * 60 * 1000; // 10 minutes: then clients may try again

/**
 * Whether to tell clients of metadata documents, after which they do not fall back to registration: not while they cannot
 * be fetched from here. One host that does not answer may be down itself.
 */
export function acceptsMetadataDocuments(nowMs = Date.now()): boolean {
  const hosts = new Set(settings().connectClients.map((address) => new URL(address).host));
  const failed = [...unreached().values()].filter((atMs) => nowMs - atMs < doubtMs);
  return failed.length < Math.min(2, hosts.size);
}
