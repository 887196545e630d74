import { afterEach, expect, it, vi } from "vitest";
import { knownContents } from "@/lib/config/client-documents";
import { settings } from "@/lib/config/settings";
import { fetchMetadataDocument } from "@/lib/oauth/client-metadata-document";
import { findRedirectFault } from "@/lib/oauth/redirect-uri";
import { acceptsMetadataDocuments, authorizationServerMetadata } from "@/lib/oauth/server-metadata";

afterEach(() => vi.unstubAllGlobals());

const claims = () => "client_id_metadata_document_supported" in authorizationServerMetadata();

/** Fetches the first document of each of so many hosts, from a network that does or does not reach them. */
async function fetchFrom(count: number, isReachable: boolean) {
  const documents = new Map(settings().connectClients.map((address) => [new URL(address).host, address]));
  const answer = () =>
    isReachable ? Promise.resolve(new Response("", { status: 404 })) : Promise.reject(new Error("no route"));
  vi.stubGlobal("fetch", answer);
  for (const address of [...documents.values()].slice(0, count))
    await fetchMetadataDocument(address).catch(() => {});
}

it("metadata documents are announced until two hosts could not be reached, again once one was, or ten minutes later", async () => {
  expect(claims()).toBe(true);
  await fetchFrom(1, false);
  expect(claims()).toBe(true);
  await fetchFrom(2, false);
  expect(claims()).toBe(false);
  await fetchFrom(3, false);
  await fetchFrom(1, true);
  expect(claims()).toBe(true);
  await fetchFrom(2, false);
  expect(acceptsMetadataDocuments(Date.now() + 9 * 60_000)).toBe(false);
  expect(acceptsMetadataDocuments(Date.now() + 11 * 60_000)).toBe(true);
});

// anthropics/claude-ai-mcp#650 and #96
it.each([
  ["a challenge", () => Promise.resolve(new Response("<title>Just a moment...</title>", { status: 403 }))],
  ["a page", () => Promise.resolve(new Response("<!doctype html>", { status: 200 }))],
  ["a redirect", () => Promise.resolve(Response.redirect("https://claude.com/", 302))],
  ["no answer", () => Promise.reject(new Error("no route"))],
])("of a host that refuses servers in clouds, and gives %s, the document is known", async (_, answer) => {
  vi.stubGlobal("fetch", answer);
  const address = "https://claude.ai/oauth/mcp-oauth-client-metadata";
  const response = await fetchMetadataDocument(address);
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({
    client_id: address,
    client_name: "Claude",
    redirect_uris: ["https://claude.ai/api/mcp/auth_callback"],
  });
});

it("a document that begins with a byte order mark, as editors on Windows write it, is read", async () => {
  const client_id = "https://vscode.dev/oauth/client-metadata.json";
  const text = JSON.stringify({ client_id, client_name: "Desk", redirect_uris: ["http://127.0.0.1/"] });
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(`\uFEFF${text}`)));
  expect(await (await fetchMetadataDocument(client_id)).json()).toMatchObject({ client_name: "Desk" });
});

it("every document that is known may be fetched by default, and none of its redirect URIs is refused", () => {
  const known = settings().connectClients.flatMap((address) => knownContents(address) ?? []);
  expect(known.map(({ client_name }) => client_name)).toEqual([
    "Claude",
    "Claude Code",
    "Codex",
    "ChatGPT",
    "Grok",
  ]);
  const faults = known.flatMap(({ redirect_uris }) => redirect_uris.map(findRedirectFault));
  expect(faults.filter((fault) => fault !== undefined)).toEqual([]);
});
