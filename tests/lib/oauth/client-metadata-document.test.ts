import { afterEach, expect, it, vi } from "vitest";
import { settings } from "@/lib/config/settings";
import { fetchMetadataDocument } from "@/lib/oauth/client-metadata-document";
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
