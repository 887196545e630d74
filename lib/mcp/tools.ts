import { z } from "zod";
import { readBalance } from "@/lib/accounts/balance";
import type { Caller } from "@/lib/accounts/caller";
import { readEntitlement } from "@/lib/accounts/entitlement";
import { ApiError } from "@/lib/api/errors";
import * as schemas from "@/lib/api/schemas";
import { type DocumentPage, portableMarkdown } from "@/lib/docs/document";
import { findDocument } from "@/lib/docs/documents";
import { placeholderAddress } from "@/lib/docs/markdown";
import { searchDocuments } from "@/lib/docs/search";
import { health } from "@/lib/health";
import { settings } from "@/lib/settings/settings";
import { readSiteBanner } from "@/lib/site-banner";

/** A tool, as the MCP server, the documents and the tests read it. None changes anything. */
export type Tool = {
  /** Stable: clients keep it. */
  name: string;
  title: string;
  /** For the model: what it answers, and when to use it. */
  description: string;
  /** Whether it reads the caller's account, and so needs a bearer token. */
  needsSession: boolean;
  input: z.ZodType;
  /** Also of a refusal, where the HTTP API documents its body. */
  output: z.ZodType;
  /** Throws an ApiError to refuse. `input` has been parsed. */
  run: (input: never, caller: Caller) => object | Promise<object>;
};

const nothing = z.strictObject({});
const query = z.string().trim().min(2).max(200).describe("Words to look for, 2 to 200 characters.");

const mostResults = 10;
const usualResults = 3;

/** The tools, in the order they are listed. Plain data: adding one starts here. */
export const tools: readonly Tool[] = [
  define({
    name: "get_health",
    title: "Service health",
    description:
      "Reports that the Corner Office web app is up, and whether assistants run in it. Use it to check the connection.",
    needsSession: false,
    input: nothing,
    output: schemas.health,
    run: () => health,
  }),
  define({
    name: "get_site_banner",
    title: "Site banner",
    description:
      "Reads the notice shown at the top of the site, or null when there is none. Use it to learn of an outage, repairs or an offer.",
    needsSession: false,
    input: nothing,
    output: schemas.siteBannerResponse,
    run: async () => ({ banner: await readSiteBanner() }),
  }),
  define({
    name: "get_entitlement",
    title: "Entitlement of the account",
    description:
      "Reports whether the signed-in account may run, its plan, when its trial ends and how many assistants it may hire. Needs a bearer token. Only ok: true means that it may run.",
    needsSession: true,
    input: nothing,
    output: z.union([schemas.entitlementAllowed, schemas.entitlementDenied]),
    run: (_, caller) => readEntitlement(caller, Date.now()),
  }),
  define({
    name: "get_credits_balance",
    title: "Credit balance of the account",
    description:
      "Reads how many credits the signed-in account has: a count of credits, never money. Needs a bearer token.",
    needsSession: true,
    input: nothing,
    output: z.union([schemas.creditsBalance, schemas.apiError]),
    run: (_, caller) => readBalance(caller),
  }),
  define({
    name: "search_docs",
    title: "Search the documents",
    description:
      "Searches the documents of Corner Office (HTTP API, error codes, limits, versions, MCP) and answers the best sections with a short excerpt each. Use it first for any question about the API, then get_doc for the whole text.",
    needsSession: false,
    input: z.strictObject({
      query,
      limit: z.int().min(1).max(mostResults).default(usualResults).describe("The most results to answer."),
    }),
    output: z.strictObject({
      results: z.array(
        z.strictObject({ path: z.string(), url: z.url(), title: z.string(), snippet: z.string() }),
      ),
    }),
    run: ({ query, limit }) => ({
      results: searchDocuments(query, limit).map(({ path, title, snippet }) => ({
        path,
        url: addressOf(path),
        title,
        snippet: snippet.replaceAll(placeholderAddress, settings().appUrl),
      })),
    }),
  }),
  define({
    name: "get_doc",
    title: "Read a document",
    description: "Reads one document whole, as Markdown, by the path that search_docs answered.",
    needsSession: false,
    input: z.strictObject({
      path: z.string().min(1).max(200).describe("For example /docs/api/limits; an #anchor is ignored."),
    }),
    output: z.strictObject({ path: z.string(), url: z.url(), title: z.string(), markdown: z.string() }),
    run: ({ path: asked }) => {
      const document = requireDocument(asked);
      const { path, title } = document;
      return { path, url: addressOf(path), title, markdown: portableMarkdown(document, settings().appUrl) };
    },
  }),
  define({
    name: "search",
    title: "Search (for clients that want this name)",
    description: "The same as search_docs, for clients that expect tools named search and fetch.",
    needsSession: false,
    input: z.strictObject({ query }),
    output: z.strictObject({
      results: z.array(z.strictObject({ id: z.string(), title: z.string(), url: z.url() })),
    }),
    run: ({ query }) => ({
      results: searchDocuments(query, mostResults).map(({ path, title }) => ({
        id: path,
        title,
        url: addressOf(path),
      })),
    }),
  }),
  define({
    name: "fetch",
    title: "Fetch (for clients that want this name)",
    description: "The same as get_doc, by the id that search answered.",
    needsSession: false,
    input: z.strictObject({ id: z.string().min(1).max(200).describe("An id that search answered.") }),
    output: z.strictObject({
      id: z.string(),
      title: z.string(),
      text: z.string(),
      url: z.url(),
      metadata: z.strictObject({ mediaType: z.string() }),
    }),
    run: ({ id }) => {
      const document = requireDocument(id);
      const { path, title } = document;
      const text = portableMarkdown(document, settings().appUrl);
      return { id: path, title, text, url: addressOf(path), metadata: { mediaType: "text/markdown" } };
    },
  }),
];

/** Ties the types of a tool's schemas to its work. */
function define<Input extends z.ZodType, Output extends z.ZodType>(
  tool: Omit<Tool, "input" | "output" | "run"> & {
    input: Input;
    output: Output;
    run: (
      input: z.output<Input>,
      caller: Caller,
    ) => (z.input<Output> & object) | Promise<z.input<Output> & object>;
  },
): Tool {
  return tool;
}

function addressOf(path: string): string {
  return settings().appUrl + path;
}

/** The document at a path, however a model writes it: with our address before it, or an anchor after it. */
function requireDocument(asked: string): DocumentPage {
  const [path = ""] = asked.replace(settings().appUrl, "").split("#");
  const document = findDocument(path);
  if (document) return document;
  throw new ApiError("not_found", {
    message: "There is no document with this path.",
    hint: "Take a path from search_docs, or from the list of resources.",
  });
}
