import { type StandardSchemaV1Sync, specTypeSchemas } from "@modelcontextprotocol/server";

/** A message, as far as it is looked at before the protocol's own library has it. */
export type Message = { method?: string; id?: string | number; params?: Record<string, unknown> };

/** The params of the methods that take any: the library answers wrong ones with a dump of these. */
const schemas = new Map<string, StandardSchemaV1Sync>([
  ["initialize", specTypeSchemas.InitializeRequestParams],
  ["tools/list", specTypeSchemas.PaginatedRequestParams],
  ["tools/call", specTypeSchemas.CallToolRequestParams],
  ["resources/list", specTypeSchemas.PaginatedRequestParams],
  ["resources/templates/list", specTypeSchemas.PaginatedRequestParams],
  ["resources/read", specTypeSchemas.ReadResourceRequestParams],
  ["prompts/list", specTypeSchemas.PaginatedRequestParams],
  ["prompts/get", specTypeSchemas.GetPromptRequestParams],
]);

const maxIssues = 3;

/** What is wrong with the params of a message, in words; `undefined` when nothing is. */
export function findParamsProblem({ method = "", params = {} }: Message): string | undefined {
  const { issues } = schemas.get(method)?.["~standard"].validate(params) ?? {};
  if (issues) return `Invalid params: ${issues.slice(0, maxIssues).map(sayIssue).join("; ")}.`;
  const { name } = params;
  // The library looks names up in a plain object, which has more of them than were put in.
  const isInherited = typeof name === "string" && name in Object.prototype;
  return isInherited ? `Invalid params: there is no ${name}.` : undefined;
}

type Issue = { message: string; path?: readonly (PropertyKey | { key: PropertyKey })[] | undefined };

function sayIssue({ message, path = [] }: Issue): string {
  const name = path.map((part) => String(typeof part === "object" ? part.key : part)).join(".");
  const [, expected, received] = /expected (\w+), received (\w+)/.exec(message) ?? [];
  if (!expected) return `'${name}' is not valid`;
  const kind = expected === "record" ? "object" : expected;
  return received === "undefined" ? `'${name}' is missing` : `'${name}' must be ${articled(kind)}`;
}

function articled(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? "an" : "a"} ${noun}`;
}
