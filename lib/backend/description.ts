import * as z from "zod";
import { accountStates } from "@/lib/accounts/accounts";
import { type BackendName, backendRoutes } from "@/lib/backend/addresses";
import { answers } from "@/lib/backend/answers";
import { inputs } from "@/lib/backend/inputs";
import { documentPath, refusalsOf } from "@/lib/backend/refusals";
import { settings } from "@/lib/config/settings";
import { mergeNull, publishAnswer } from "@/lib/docs/published-schema";

/** The description of the backend API: OpenAPI 3.1. */
export function backendDescription() {
  const { backend } = settings();
  const names = Object.keys(backendRoutes) as BackendName[];
  return {
    openapi: "3.1.1",
    info: {
      title: "Corner Office: the backend API",
      version: "1.0.0",
      description: `How requests are signed and repeated: ${backend?.url}${documentPath}`,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: backend?.url }],
    security: [{ assertion: [] }],
    paths: Object.fromEntries(names.map((name) => [backendRoutes[name].path, pathItem(name)])),
    components: {
      schemas: { ...requestSchemas(), ...schemasByName() },
      securitySchemes: {
        assertion: {
          type: "http",
          scheme: "bearer",
          bearerFormat: "JWT",
          description: "A JWT that the backend's private key signed: see `/docs`.",
        },
      },
    },
  };
}

function pathItem(name: BackendName) {
  const [method] = backendRoutes[name].methods;
  return {
    [method.toLowerCase()]: {
      operationId: name,
      summary: backendRoutes[name].summary,
      parameters: parametersOf(name),
      ...(takesBody(name) && {
        requestBody: {
          required: true,
          description: "A field that is not required may be null as well, which is as if it were absent.",
          content: json({ $ref: `${schemas}${requestName(name)}` }),
        },
      }),
      responses: Object.fromEntries([
        [
          "200",
          { description: "Done.", headers: headersOf(200, []), content: json(schemaOf(answers[name])) },
        ],
        ...[...refusalsOf(name)].map(([status, codes]) => [
          String(status),
          {
            description: `Refused: ${codes.map((code) => `\`${code}\``).join(", ")}.`,
            headers: headersOf(status, codes),
            // One schema for all refusals: generators of clients make a class of each.
            content: json(schemaOf(answers.refused)),
          },
        ]),
      ]),
    },
  };
}

/** The bodies that are taken, by names: generators number those without one. */
const requestSchemas = () =>
  Object.fromEntries(
    Object.entries(inputs).map(([name, schema]) => [
      requestName(name),
      withoutNames(z.toJSONSchema(schema, asInput)),
    ]),
  );

const requestName = (name: string) => `${name[0]?.toUpperCase()}${name.slice(1)}Request`;

const asInput = { io: "input", unrepresentable: "any", override: mergeNull } as const;

export const takesBody = (name: BackendName): name is keyof typeof inputs => Object.hasOwn(inputs, name);

const json = (schema: object) => ({ "application/json": { schema } });

const schemaOf = (schema: z.ZodType) => ({ $ref: `${schemas}${nameOf(schema)}` });

const schemas = "#/components/schemas/";

/** The name of an object of the API. */
export const nameOf = (schema: z.ZodType): string => schema.meta()?.id ?? "";

/** The objects that are answered. */
function schemasByName(): Record<string, object> {
  const { $defs = {} } = z.toJSONSchema(z.object(answers), { override: publishAnswer });
  const made = Object.entries($defs).map(([name, schema]) => [name, withoutNames(schema)]);
  return JSON.parse(JSON.stringify(Object.fromEntries(made)).replaceAll('"#/$defs/', `"${schemas}`));
}

const withoutNames = ({ $schema, id, ...schema }: z.core.JSONSchema.JSONSchema): object => schema;

function headersOf(status: number, codes: readonly string[]): object {
  const text = (description: string, required = true) => ({
    description,
    required,
    schema: { type: "string" },
  });
  return {
    "X-Request-Id": text("The id of the request in our log."),
    ...(status === 401 && { "WWW-Authenticate": text("What the request has to carry.") }),
    ...(status === 405 && { Allow: text("The accepted methods.") }),
    ...(codes.includes("unavailable") && {
      "Retry-After": text("The seconds to wait.", !codes.includes("not_configured")),
    }),
  };
}

function parametersOf(name: BackendName): object[] {
  const { path } = backendRoutes[name];
  const text = (name: string, where: string, required = false) => ({
    name,
    in: where,
    required,
    schema: { type: "string" },
  });
  const isList = ["/accounts", "/entries", "/events", "/plans"].some((end) => path.endsWith(end));
  return [
    ...(path.includes("{id}") ? [text("id", "path", true)] : []),
    ...(takesBody(name)
      ? [
          {
            ...text("Idempotency-Key", "header", name !== "checks"),
            description:
              "One for each write, made before it is first sent, and the same when it is repeated.",
          },
        ]
      : []),
    ...(isList
      ? [
          text("after", "query"),
          { ...text("limit", "query"), schema: { type: "integer", minimum: 1, maximum: 1000, default: 100 } },
        ]
      : []),
    ...(name === "accounts"
      ? [
          text("email", "query"),
          text("reference", "query"),
          text("plan", "query"),
          { ...text("state", "query"), schema: { type: "string", enum: accountStates } },
        ]
      : []),
  ];
}
