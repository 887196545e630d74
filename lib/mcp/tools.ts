import * as z from "zod";
import { readBalance } from "@/lib/accounts/balance";
import type { Caller } from "@/lib/accounts/caller";
import { readEntitlement } from "@/lib/accounts/entitlement";
import { settings } from "@/lib/config/settings";
import { documents } from "@/lib/docs/documents";
import { to } from "@/lib/docs/links";
import { placeholderAddress } from "@/lib/docs/markdown";
import { searchDocuments } from "@/lib/docs/search";
import { health } from "@/lib/health";
import * as schemas from "@/lib/http/schemas";
import { readDocumentForModel } from "@/lib/mcp/document-reader";
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
  /** Also of an answered no. Without one it answers a text, which says everything once. */
  output?: z.ZodType;
  /** Throws an ApiError to refuse. `input` has been parsed. */
  run: (input: never, caller: Caller) => object | string | Promise<object>;
};

const nothing = z.strictObject({});

/** As the HTTP API has it, in fewer words: a model pays for every one, and needs no list of the codes. */
const entitlementDenied = schemas.entitlementDenied.extend({
  message: z.string(),
  error: z.strictObject({ code: z.string(), message: z.string(), hint: z.string(), docs: z.string() }),
});

const query = z.string().trim().min(2).max(200).describe("Words to look for, 2 to 200 characters.");

const maxResults = 10;
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
    output: z.union([schemas.entitlementAllowed, entitlementDenied]),
    run: (_, caller) => readEntitlement(caller, Date.now()),
  }),
  define({
    name: "get_credits_balance",
    title: "Credit balance of the account",
    description:
      "Reads how many credits the signed-in account has: a count of credits, never money. Needs a bearer token.",
    needsSession: true,
    input: nothing,
    output: schemas.creditsBalance,
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
      limit: z.int().min(1).max(maxResults).default(usualResults).describe("The most results to answer."),
    }),
    output: z.strictObject({
      results: z.array(
        z.strictObject({ path: z.string(), url: z.url(), title: z.string(), snippet: z.string() }),
      ),
      hint: z.string().optional(),
    }),
    run: ({ query, limit }) => {
      const results = searchDocuments(query, limit).map(({ path, title, snippet }) => ({
        path,
        url: addressOf(path),
        title,
        snippet: snippet.replaceAll(placeholderAddress, settings().appUrl),
      }));
      return { results, ...(results.length === 0 && { hint: nothingFound() }) };
    },
  }),
  define({
    name: "get_doc",
    title: "Read a document",
    description:
      "Reads a document, or one section of it, as Markdown, by a path that search_docs answered. A long document ends with the paths of its other sections.",
    needsSession: false,
    input: z.strictObject({
      path: z
        .string()
        .min(1)
        .max(200)
        .describe(`For example ${to.limits}, or ${to.limits}#headers for that section alone.`),
    }),
    run: ({ path }) => readDocumentForModel(path),
  }),
];

/** Ties the types of a tool's schemas to its work. */
function define<Input extends z.ZodType, Output extends z.ZodType = z.ZodNever>(
  tool: Omit<Tool, "input" | "output" | "run"> & {
    input: Input;
    output?: Output;
    run: (
      input: z.output<Input>,
      caller: Caller,
    ) => Output extends z.ZodNever ? string : (z.input<Output> & object) | Promise<z.input<Output> & object>;
  },
): Tool {
  return tool as Tool;
}

/** What a model does next where nothing speaks of what it asked: it must not make an answer up. */
function nothingFound(): string {
  const paths = documents.map(({ path }) => path).join(", ");
  return `Nothing here speaks of that. Ask in fewer or other words, or read one of ${paths}.`;
}

function addressOf(path: string): string {
  return settings().appUrl + path;
}
