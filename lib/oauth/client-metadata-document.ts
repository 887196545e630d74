import * as z from "zod";
import { knownContents } from "@/lib/config/client-documents";
import { readClientName } from "@/lib/oauth/clients";
import { findRedirectFault, withoutAnyPort } from "@/lib/oauth/redirect-uri";
import { perProcess } from "@/lib/per-process";
import { log } from "@/lib/runtime/log";
import { readBounded } from "@/lib/runtime/read-bounded";

/** The draft (§6.6) recommends 5 KB, which some documents exceed (cloudflare/mcp#46). */
export const maxDocumentBytes = 16 * 1024;

/**
 * The metadata that we read. The rest of a document is ignored, as it is in a registration: Claude's names a grant type
 * that we do not offer, and ChatGPT's prefers `private_key_jwt` but offers `none` as well.
 */
const metadata = z
  .object({
    client_id: z.string(),
    client_name: z.unknown().optional(),
    redirect_uris: z
      .array(z.unknown())
      .transform((uris) =>
        uris
          .map(withoutAnyPort)
          .filter((uri): uri is string => typeof uri === "string" && !findRedirectFault(uri)),
      ),
    dpop_bound_access_tokens: z.boolean().optional().catch(undefined),
    token_endpoint_auth_method: z.string().default("none"),
    token_endpoint_auth_methods_supported: z.array(z.string()).default([]),
    client_secret: z.never({ error: "must not be published" }).optional(),
  })
  .refine(({ redirect_uris }) => redirect_uris.length > 0, { error: "has no redirect URI that is allowed" })
  .refine(
    (document) =>
      [document.token_endpoint_auth_method, ...document.token_endpoint_auth_methods_supported].includes(
        "none",
      ),
    { error: "offers no token_endpoint_auth_method of none" },
  )
  .transform(({ client_id, client_name, redirect_uris, dpop_bound_access_tokens = false }) => ({
    client_id,
    client_name: readClientName(client_name),
    redirect_uris,
    dpop_bound_access_tokens,
  }));

/**
 * Fetches a client's metadata document for the authorization server. One that cannot be read is replaced by what is known
 * of it. Throws if there is none that can be used.
 */
export async function fetchMetadataDocument(...request: Parameters<typeof fetch>): Promise<Response> {
  const [asked] = request;
  const address = String(asked instanceof Request ? asked.url : asked);
  const known = knownContents(address);
  if (!known) return readDocument(address, request);
  const read = await readDocument(address, request).catch((failure: unknown) => failure);
  if (read instanceof Response && read.ok) return read;
  const reason = read instanceof Response ? `status ${read.status}` : String(read);
  log().warn(
    { client: address, reason },
    "a metadata document was not readable, so what is known of it counts",
  );
  return Response.json({ client_id: address, ...known });
}

async function readDocument(address: string, request: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(...request).catch((failure) => {
    unreached().set(new URL(address).host, Date.now());
    throw failure;
  });
  unreached().clear();
  if (response.status !== 200) return response;
  const document = parseDocument(await readBounded(response.body, maxDocumentBytes));
  const caching = [...response.headers].filter(([name]) => /^(?:cache-control|expires)$/.test(name));
  return Response.json(document, { headers: caching });
}

/** What is used of a document. Throws why it cannot be. A library that writes one by a schema says `null` for what it lacks. */
export function parseDocument(text: string) {
  const document = metadata.safeParse(JSON.parse(text, (_, value) => value ?? undefined));
  if (document.success) return document.data;
  const faults = document.error.issues.map(({ path, message }) => `${path.join(".")} ${message}`.trim());
  throw new Error(faults.join("; "));
}

/** When the hosts that this process has tried in vain, since it last reached one, were tried. */
export const unreached = perProcess("unreached hosts of metadata documents", () => new Map<string, number>());
