import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { expect } from "vitest";
import { type BackendName, backendRoutes, findBackendRoute } from "@/lib/backend/addresses";
import { answers } from "@/lib/backend/answers";
import { backendDescription } from "@/lib/backend/description";
import { refusalsOf } from "@/lib/backend/refusals";
import type { SeenAnswer } from "@/tests/support/answers";

type Described = { responses: Record<string, { headers: Record<string, { required: boolean }> }> };

const ajv = new Ajv2020({ strict: false });
addFormats(ajv);
const description = backendDescription();
ajv.addSchema(description, "backend");
const paths: Record<string, Record<string, Described>> = description.paths;

const names = Object.keys(backendRoutes) as BackendName[];
const nameAt = (path: string) => names.find((name) => backendRoutes[name] === findBackendRoute(path)?.route);

/** Checks an answer of the backend API: its description has its status, its headers, and its body with every field. */
export function expectDescribed({ method, path, status, headers, body }: SeenAnswer): void {
  const name = nameAt(path);
  if (!name || method === "HEAD") return;
  const route = backendRoutes[name];
  const verb = route.methods[0].toLowerCase();
  const described = paths[route.path]?.[verb]?.responses[status];
  expect(described, `${route.path} ${status} is described`).toBeDefined();
  for (const [header, { required }] of Object.entries(described?.headers ?? {}))
    if (required) expect(headers).toHaveProperty(header.toLowerCase());
  const pointer = ["paths", route.path, verb, "responses", status, "content", "application/json", "schema"]
    .map((part) => encodeURIComponent(String(part).replaceAll("~", "~0").replaceAll("/", "~1")))
    .join("/");
  const validate = ajv.getSchema(`backend#/${pointer}`);
  const json = JSON.parse(body);
  expect(validate?.(json), `${body}: ${ajv.errorsText(validate?.errors)}`).toBe(true);
  // The description is open, and what is sent is closed.
  expect(answers[status === 200 ? name : "refused"].parse(json)).toEqual(json);
}

/** What the description says that may be answered, by address, status and code. */
export const describedByBackend = names.flatMap((name) => {
  const { path } = backendRoutes[name];
  const refused = [...refusalsOf(name)].flatMap(([status, codes]) =>
    codes.map((code) => `${path} ${status} ${code}`),
  );
  return [`${path} 200`, ...refused];
});

/** The one of these that an answer is. */
export function signatureOf({ path, status, body, method }: SeenAnswer): string | undefined {
  const name = nameAt(path);
  if (!name || method === "HEAD") return undefined;
  return `${backendRoutes[name].path} ${status}${status === 200 ? "" : ` ${JSON.parse(body).error.code}`}`;
}
