import { type StandardSchemaV1Sync, specTypeSchemas } from "@modelcontextprotocol/server";

/** The fields of a message that we read before the MCP library does. */
export type Message = { method?: string; id?: string | number; params?: Record<string, unknown> };

/** The params of each method, checked here because the library's errors would dump these schemas. */
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

/** Describes why a message's params are invalid; `undefined` if they are valid. */
export function findParamsProblem({ method = "", params = {} }: Message): string | undefined {
  const { issues } = schemas.get(method)?.["~standard"].validate(params) ?? {};
  if (issues) return `Invalid params: ${issues.slice(0, maxIssues).map(describeIssue).join("; ")}.`;
  const { name } = params;
  // The library looks names up in a plain object, which inherits names such as `constructor`.
  const isInherited = typeof name === "string" && name in Object.prototype;
  return isInherited ? `Invalid params: there is no ${name}.` : undefined;
}

type Issue = { message: string; path?: readonly (PropertyKey | { key: PropertyKey })[] | undefined };

function describeIssue({ message, path = [] }: Issue): string {
  const name = path.map((part) => String(typeof part === "object" ? part.key : part)).join(".");
  const [, expected, received] = /expected (\w+), received (\w+)/.exec(message) ?? [];
  if (!expected) return `'${name}' is not valid`;
  const kind = expected === "record" ? "object" : expected;
  if (received === "undefined") return `'${name}' is missing`;
  return `'${name}' must be ${/^[aeiou]/.test(kind) ? "an" : "a"} ${kind}`;
}
