import * as z from "zod";
import { settings } from "@/lib/config/settings";
import { changes } from "@/lib/docs/changes";
import { makePortable } from "@/lib/docs/document";
import { findDocument } from "@/lib/docs/documents";
import { operationWords } from "@/lib/docs/documents/operations";
import { anchorOf } from "@/lib/docs/markdown";
import { publishAnswer } from "@/lib/docs/published-schema";
import { type AnswerDocument, answersOf, earlyRefusals } from "@/lib/docs/responses";
import { sessionLimits, tokenSafety } from "@/lib/docs/words";
import { maxRequestIdCharacters, requestIdPattern } from "@/lib/http/call";
import { type Operation, type OperationName, operations, resources } from "@/lib/http/register/operations";
import { pages } from "@/lib/http/register/pages";

/** OpenAPI 3.1. Schemas are published open, because clients must ignore unknown fields; responses are sent closed. */
export function openApiDocument() {
  const { appUrl, supportEmail } = settings();
  const policy = findDocument(pages.policy.path)?.markdown() ?? "";
  return {
    openapi: "3.1.1",
    info: {
      title: "Corner Office",
      version: changes[0].version,
      summary: "The public HTTP API of Corner Office.",
      description: `${sessionLimits} ${tokenSafety}\n\n${makePortable(policy)}`,
      contact: {
        name: "Corner Office",
        url: `${appUrl}${pages.quickStart.path}`,
        ...(supportEmail ? { email: supportEmail } : {}),
      },
      license: { name: "MIT", identifier: "MIT" },
    },
    externalDocs: { description: "Documentation", url: `${appUrl}${pages.quickStart.path}` },
    servers: [{ url: appUrl, description: "This service, in production.", "x-internal": false }],
    tags: Object.values(tags),
    paths: Object.fromEntries(
      (Object.keys(operations) as OperationName[]).map((name) => [operations[name].path, pathItem(name)]),
    ),
    components: {
      schemas: schemasByName(),
      parameters: { ApiVersion: apiVersion, RequestId: requestId },
      responses: Object.fromEntries(
        earlyRefusals().map((errorParts) => [errorParts.name, describeAnswer(errorParts, undefined)]),
      ),
      securitySchemes: {
        bearerAuth: {
          type: "http",
          scheme: "bearer",
          bearerFormat: "JWT",
          description: `A session token (a JWT, verified according to RFC8725) that the account's owner gives to a program. A token that is bound to a key (RFC 9449) is sent with the scheme \`DPoP\` instead, and with a proof for the request in the header \`DPoP\`. ${tokenSafety}`,
        },
        sessionCookie: {
          type: "apiKey",
          in: "cookie",
          name: "__session",
          description: `The browser's session after sign-in at \`${pages.signIn.path}\`.`,
        },
      },
    },
  };
}

const tags: Record<Operation["access"], { name: string; description: string }> = {
  anyone: { name: "Open", description: "Operations that need no sign-in." },
  session: {
    name: "Account",
    description: "Operations that need a session: a bearer token or the session cookie.",
  },
  "signed link": { name: "Email", description: "Operations that need the signed link of an email." },
};

/** The operation alone: generators take what else is said of a path for methods (swagger-typescript-api, RicoSuter/NSwag#2438). */
function pathItem(name: OperationName) {
  const operation: Operation = operations[name];
  const [method = "GET"] = operation.methods;
  return { [method.toLowerCase()]: describeOperation(name, operation, method) };
}

/** The first paragraph, without its links: ChatGPT's actions take 300 characters (developers.openai.com/api/docs/actions/production). */
function describeBriefly(markdown: string): string {
  const [first = ""] = markdown.split("\n\n");
  return first.replace(/\[([^[\]]+)\]\([^()]+\)/g, "$1");
}

function describeOperation(name: OperationName, operation: Operation, method: string) {
  const { access, path, summary } = operation;
  return {
    operationId: method === "GET" ? `get${name[0]?.toUpperCase()}${name.slice(1)}` : name,
    summary,
    description: describeBriefly(operationWords[name].about),
    tags: [tags[access].name],
    externalDocs: {
      description: "Samples in curl, TypeScript and Python",
      url: `${settings().appUrl}${pages.apiReference.path}#${anchorOf(`${method} ${path}`)}`,
    },
    ...(operation.retirement ? { deprecated: true } : {}),
    security: access === "session" ? [{ bearerAuth: [] }, { sessionCookie: [] }] : [],
    parameters: [
      { $ref: "#/components/parameters/ApiVersion" },
      { $ref: "#/components/parameters/RequestId" },
      ...(access === "signed link" ? [signedToken] : []),
    ],
    responses: Object.fromEntries([
      ...earlyRefusals().map(({ status, name }) => [
        String(status),
        { $ref: `#/components/responses/${name}` },
      ]),
      ...answersOf(operation).map((answer) => [
        String(answer.status),
        describeAnswer(answer, operationWords[name].example),
      ]),
    ]),
  };
}

function describeAnswer({ status, meaning, refusals, schema, headers }: AnswerDocument, success: unknown) {
  const isText = schema === operations.unsubscribe.answer;
  const examples: Record<string, { value: unknown }> = Object.fromEntries(
    Object.entries(refusals).map(([code, value]) => [code, { value }]),
  );
  if (status === 200) examples.success = { value: isText ? `${success}\n` : success };
  return {
    description: meaning,
    headers: Object.fromEntries(
      headers.map(({ name, meaning, example, pattern, always }) => [
        name,
        { description: meaning, required: always, schema: { type: "string", pattern }, example },
      ]),
    ),
    content: {
      [isText ? "text/plain" : "application/json"]: {
        schema: { $ref: `#/components/schemas/${resources.get(schema)?.id}` },
        examples,
      },
    },
  };
}

function schemasByName(): Record<string, object> {
  const made = z.toJSONSchema(resources, {
    uri: (id) => `#/components/schemas/${id}`,
    override: publishAnswer,
  });
  return Object.fromEntries(
    Object.entries(made.schemas).map(([name, { $schema, $id, ...schema }]) => [name, schema]),
  );
}

const apiVersion = {
  name: "API-Version",
  in: "header",
  required: false,
  description: "Selects the major version. Omitting it selects version 1; any other value answers `400`.",
  schema: { type: "string", enum: ["1"], default: "1" },
  example: "1",
};

const requestId = {
  name: "X-Request-Id",
  in: "header",
  required: false,
  description: "An id for this request in our log. An invalid one is replaced.",
  schema: { type: "string", pattern: requestIdPattern.source, maxLength: maxRequestIdCharacters },
  example: "3f0e2a6c-5d0b-4b8e-9f35-0a4b7f1c2d9e",
};

const signedToken = {
  name: "token",
  in: "query",
  required: true,
  description: "The signed token of the link, exactly as it was sent. It is the only credential.",
  schema: { type: "string", minLength: 1, maxLength: 1024 },
  example: "v1.acc_example.c2lnbmF0dXJl",
};
