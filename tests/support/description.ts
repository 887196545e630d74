import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { openApiDocument } from "@/lib/docs/openapi";
import { mcpServer } from "@/lib/http/register/mcp";
import { operations } from "@/lib/http/register/operations";
import type { SeenAnswer } from "@/tests/support/answers";

/** The API description, typed as far as the tests read it. */
export const description = openApiDocument() as unknown as {
  paths: Record<string, Record<string, DescribedOperation>>;
  components: { responses: Record<string, DescribedAnswer>; parameters: Record<string, Parameter> };
};

type DescribedOperation = {
  parameters: ({ $ref: string } | Parameter)[];
  responses: Record<string, DescribedAnswer | { $ref: string }>;
};
export type Parameter = { name: string; in: "header" | "query"; example: string };
type DescribedAnswer = {
  headers: Record<string, { required: boolean; schema: { pattern: string } }>;
  content: Record<string, { schema: { $ref: string }; examples: Record<string, unknown> }>;
};

const ajv = new Ajv2020({ strict: false });
addFormats(ajv);
ajv.addSchema(description, "description");

/** Headers of any HTTP response, and our security headers. */
const ordinaryHeaders = [
  "date",
  "connection",
  "keep-alive",
  "transfer-encoding",
  "content-type",
  "content-length",
  "vary",
  "x-content-type-options",
  "referrer-policy",
  "content-security-policy",
  "strict-transport-security",
];

const apiError = { $ref: "#/components/schemas/ApiError" };

/** Lists how a response departs from the description. */
export function faultsOf(answer: SeenAnswer): string[] {
  const item = description.paths[answer.path];
  if (!item) return unknownAddress(answer);
  if (answer.method === "OPTIONS" && answer.status === 204) return preflight(answer);
  const operation = item[answer.method.toLowerCase()] ?? (answer.method === "HEAD" ? item.get : undefined);
  // The router refuses a method without an operation.
  const described = (operation ?? item.get ?? item.post)?.responses[answer.status];
  const isRefusable = operation || [400, 405].includes(answer.status);
  if (!described || !isRefusable) return ["is not described"];
  return faultsAgainst(answer, resolve(described));
}

/** Under `/mcp` the MCP server responds. Any other address is a 404, or the request could not be parsed. */
function unknownAddress({ path, status, body, method }: SeenAnswer): string[] {
  if ((mcpServer.paths as readonly string[]).includes(path.replace(/\/$/, ""))) return [];
  if (![404, 400].includes(status)) return ["is not described"];
  return method === "HEAD" ? [] : bodyFaults(apiError, JSON.parse(body));
}

/** The description has no words for it, because generators would make a method of them. */
function preflight({ path, headers, body }: SeenAnswer): string[] {
  const { methods = [] } = Object.values(operations).find((operation) => operation.path === path) ?? {};
  const isAllowed = headers.allow === methods.join(", ");
  return isAllowed && body === "" ? [] : ["is not the 204 with Allow of its operation"];
}

function faultsAgainst({ method, headers, body }: SeenAnswer, described: DescribedAnswer): string[] {
  const faults: string[] = [];
  const known = new Map(
    Object.entries(described.headers).map(([name, header]) => [name.toLowerCase(), header]),
  );
  for (const [name, { required, schema }] of known) {
    const value = headers[name];
    if (value === undefined && required) faults.push(`has no ${name}`);
    if (value !== undefined && !new RegExp(schema.pattern).test(String(value))) {
      faults.push(`has another ${name}: ${value}`);
    }
  }
  for (const name of Object.keys(headers)) {
    if (!known.has(name) && !ordinaryHeaders.includes(name))
      faults.push(`has ${name}, which is not described`);
  }
  const [type, content] = Object.entries(described.content)[0] ?? [];
  if (headers["content-type"]?.split(";")[0] !== type) faults.push(`is ${headers["content-type"]}`);
  if (method === "HEAD") return body === "" ? faults : [...faults, "has a body"];
  const value = type === "application/json" ? JSON.parse(body) : body;
  if (content) faults.push(...bodyFaults(content.schema, value));
  const code = value.error?.code;
  if (code && !Object.hasOwn(content?.examples ?? {}, code)) faults.push(`has the code ${code}`);
  return faults;
}

function bodyFaults({ $ref }: { $ref: string }, value: unknown): string[] {
  const validate = ajv.getSchema(`description${$ref}`);
  if (!validate) return [`has no schema ${$ref}`];
  return validate(value) ? [] : [ajv.errorsText(validate.errors)];
}

/** The descriptions that this response covers: at its own path, and at any path. */
export function signaturesOf({ method, path, status, body }: SeenAnswer): string[] {
  if (method === "HEAD" || method === "OPTIONS" || body === "") return [];
  const code = status === 200 ? "success" : JSON.parse(body).error?.code;
  return [`${path} ${status} ${code}`, `any ${status} ${code}`];
}

/** Resolves a `$ref` to a response of the description. */
export function resolve(answer: DescribedAnswer | { $ref: string }): DescribedAnswer {
  if (!("$ref" in answer)) return answer;
  const shared = description.components.responses[answer.$ref.split("/").at(-1) ?? ""];
  if (!shared) throw new Error(`There is no ${answer.$ref}`);
  return shared;
}
