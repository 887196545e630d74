import type { DocumentPage, DocumentText } from "@/lib/docs/document";
import { apiReference } from "@/lib/docs/documents/api-reference";
import { authentication } from "@/lib/docs/documents/authentication";
import { client } from "@/lib/docs/documents/client";
import { connect } from "@/lib/docs/documents/connect";
import {
  connectAndroid,
  connectDesktop,
  connectExpo,
  connectIphone,
  connectTerminal,
  connectWeb,
} from "@/lib/docs/documents/connect-platforms";
import { errorObject } from "@/lib/docs/documents/error-object";
import { errors } from "@/lib/docs/documents/errors";
import { headers } from "@/lib/docs/documents/headers";
import { limits } from "@/lib/docs/documents/limits";
import { mcp } from "@/lib/docs/documents/mcp";
import { operationDocument } from "@/lib/docs/documents/operations";
import { plans } from "@/lib/docs/documents/plans";
import { policy } from "@/lib/docs/documents/policy";
import { privacy } from "@/lib/docs/documents/privacy";
import { quickStart } from "@/lib/docs/documents/quick-start";
import { support } from "@/lib/docs/documents/support";
import { terms } from "@/lib/docs/documents/terms";
import { webhooks } from "@/lib/docs/documents/webhooks";
import { sectionsAt } from "@/lib/docs/sections";
import { type OperationName, operations } from "@/lib/http/register/operations";
import { documentPages } from "@/lib/http/register/pages";

type OfOperations = { [Name in OperationName as `${Name}Operation`]: DocumentText };

const ofOperations = Object.fromEntries(
  (Object.keys(operations) as OperationName[]).map((name) => [`${name}Operation`, operationDocument(name)]),
) as OfOperations;

const texts: Record<keyof typeof documentPages, DocumentText> = {
  quickStart,
  authentication,
  client,
  plans,
  connectAnApp: connect,
  connectDesktop,
  connectIphone,
  connectAndroid,
  connectExpo,
  connectTerminal,
  connectWeb,
  apiReference,
  ...ofOperations,
  headers,
  errorObject,
  webhooks,
  errors,
  limits,
  policy,
  mcp,
  support,
  privacy,
  terms,
};

/** Every document, in reading order. */
export const documents = (Object.keys(texts) as (keyof typeof texts)[]).map((name): DocumentPage => {
  const text = texts[name];
  const markdown = () => `# ${text.title}\n\n${text.markdown()}`;
  return { path: documentPages[name].path, ...text, markdown };
});

/** Whether a path, with or without an anchor, leads to a document or a section. */
export function isDocumentPath(path: string): boolean {
  const [page = "", anchor] = path.split("#");
  const document = findDocument(page);
  return document !== undefined && (anchor === undefined || sectionsAt(document, anchor) !== undefined);
}

export function findDocument(path: string): DocumentPage | undefined {
  return documents.find((document) => document.path === path);
}
