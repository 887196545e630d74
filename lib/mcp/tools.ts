import * as z from "zod";
import type { Caller } from "@/lib/accounts/caller";
import { readBalance } from "@/lib/accounts/credits/balance";
import { answerEntitlement } from "@/lib/accounts/terms/entitlement";
import { settings } from "@/lib/config/settings";
import { documents } from "@/lib/docs/documents";
import { to } from "@/lib/docs/markdown";
import { type SearchHit, searchDocuments } from "@/lib/docs/search";
import { health } from "@/lib/health";
import { operations } from "@/lib/http/register/operations";
import { readDocumentForModel } from "@/lib/mcp/document-reader";
import { readSiteBanner } from "@/lib/site-banner";

/** A tool, as the MCP server, the documents and the tests read it. All tools are read-only. */
export type Tool = {
  /** Stable, because clients store it. */
  name: string;
  title: string;
  /** Tells the model what the tool returns and when to use it. */
  description: string;
  /** Whether it reads the caller's account and requires a bearer token. */
  needsSession?: true;
  /** Whether it takes milliseconds of the processor, and so a turn. */
  computes?: true;
  /** An object. Clients add arguments of their own, which are left out. */
  input: z.ZodType;
  /** The schema of a result, a 403 included; a tool without one returns text. */
  output?: z.ZodType;
  /** Takes the parsed input. Throws an ApiError to refuse. */
  run: (input: never, caller: Caller) => object | string | Promise<object>;
};

const nothing = z.object({});

/** The denial of the HTTP API in a shorter schema without the list of codes, which would cost a model tokens. */
const entitlementDenied = operations.entitlement.denial.extend({
  message: z.string(),
  error: z.strictObject({ code: z.string(), message: z.string(), hint: z.string(), docs: z.string() }),
});

const query = z.string().trim().min(2).max(200);

const maxResults = 10;
const defaultResults = 3;

/** The tools in listing order. To add a tool, start here. */
export const tools: readonly Tool[] = [
  define({
    name: "get_health",
    title: "Service health",
    description:
      "Reports that the Corner Office web app is up, and whether assistants run in it. Use it to check the connection.",
    input: nothing,
    output: operations.health.answer,
    run: () => health,
  }),
  define({
    name: "get_site_banner",
    title: "Site banner",
    description:
      "Returns the notice at the top of the site, or null if there is none. Use it to learn about outages, maintenance or offers.",
    input: nothing,
    output: operations.siteBanner.answer,
    run: async () => ({ banner: await readSiteBanner() }),
  }),
  define({
    name: "get_entitlement",
    title: "Entitlement of the account",
    description:
      "Reports whether the signed-in account may run, when its trial ends, its plan, and what that contains: features and limits, such as how many assistants it may hire. Needs a bearer token. The account may run only if ok is true.",
    needsSession: true,
    input: nothing,
    output: z.union([operations.entitlement.answer, entitlementDenied]),
    run: (_, caller) => answerEntitlement(caller, Date.now()),
  }),
  define({
    name: "get_credits_balance",
    title: "Credit balance of the account",
    description:
      "Returns the credit balance of the signed-in account: a count of credits, never money. Needs a bearer token.",
    needsSession: true,
    input: nothing,
    output: operations.creditsBalance.answer,
    run: (_, caller) => readBalance(caller),
  }),
  define({
    name: "search_docs",
    title: "Search the documents",
    description:
      "Searches the documents of Corner Office (HTTP API, error codes, limits, versions, MCP) and returns the best sections, each with a short excerpt. Use it first for any question about the API, then get_doc for the whole text.",
    computes: true,
    input: z.object({
      query: query.describe("Words to search for, 2 to 200 characters."),
      // Claude Code and others send every argument as text.
      limit: z.coerce
        .number()
        .int()
        .min(1)
        .max(maxResults)
        .default(defaultResults)
        .describe("The maximum number of results."),
    }),
    output: z.strictObject({
      results: z.array(
        z.strictObject({ path: z.string(), url: z.url(), title: z.string(), snippet: z.string() }),
      ),
      hint: z.string().optional(),
    }),
    run: ({ query, limit }) =>
      search(query, limit, ({ path, title, snippet }) => ({
        path,
        url: settings().appUrl + path,
        title,
        snippet,
      })),
  }),
  define({
    name: "get_doc",
    title: "Read a document",
    description:
      "Returns a document, or one section of it, as Markdown, by a path from search_docs. A long document is cut and ends with the paths of its other sections.",
    computes: true,
    input: z.object({
      path: z
        .string()
        .min(1)
        .max(200)
        .describe(`For example ${to.limits}, or ${to.limits}#headers for that section alone.`),
    }),
    run: ({ path }) => readDocumentForModel(path).text,
  }),
  // ChatGPT only takes a search and a reader with exactly these names and fields.
  define({
    name: "search",
    title: "Search for ChatGPT",
    description: "Like search_docs, in ChatGPT's form.",
    computes: true,
    input: z.object({ query }),
    output: z.strictObject({
      results: z.array(z.strictObject({ id: z.string(), title: z.string(), url: z.url() })),
      hint: z.string().optional(),
    }),
    run: ({ query }) =>
      search(query, maxResults, ({ path, title }) => ({ id: path, title, url: settings().appUrl + path })),
  }),
  define({
    name: "fetch",
    title: "Fetch for ChatGPT",
    description: "Like get_doc by an id from search, in ChatGPT's form.",
    computes: true,
    input: z.object({ id: z.string().min(1).max(200) }),
    output: z.strictObject({
      id: z.string(),
      title: z.string(),
      text: z.string(),
      url: z.url(),
      metadata: z.strictObject({ summary: z.string() }),
    }),
    run: ({ id }) => {
      const { path, title, summary, text } = readDocumentForModel(id);
      return { id: path, title, text, url: settings().appUrl + path, metadata: { summary } };
    },
  }),
];

/** Checks the type of a tool's `run` against its schemas. */
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

/** The best sections. If there is none, a hint tells the model what to do next, so that it does not invent an answer. */
function search<Result>(query: string, limit: number, describe: (hit: SearchHit) => Result) {
  const results = searchDocuments(query, limit).map(describe);
  const paths = documents.map(({ path }) => path).join(", ");
  const hint = `Nothing found. Search with fewer or other words, or read one of ${paths}.`;
  return { results, ...(results.length === 0 && { hint }) };
}
