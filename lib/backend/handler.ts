import { extname } from "node:path";
import {
  type BackendRoute,
  backendRoutes,
  clientRoutes,
  clientVersion,
  findBackendRoute,
  nothingHere,
  openRoutes,
} from "@/lib/backend/addresses";
import { verifyAssertion } from "@/lib/backend/assertion";
import type { Backend } from "@/lib/backend/backends";
import { backendDescription } from "@/lib/backend/description";
import { backendMarkdown, backendPage } from "@/lib/backend/documents";
import { endpoints, requirePermission } from "@/lib/backend/endpoints";
import { docsOf } from "@/lib/backend/refusals";
import { store } from "@/lib/db/store";
import { publishClient, readClientFile } from "@/lib/docs/client-files";
import type { Call, Site } from "@/lib/http/call";
import { ApiError } from "@/lib/http/errors";
import { handleEndpoint, handleOperation, type RouteHandler } from "@/lib/http/handler";
import { type Answering, errorParts, type ResponseParts } from "@/lib/http/response";
import type { Route } from "@/lib/http/route";
import { decide } from "@/lib/http/router";

/** The backend API, at this origin: its site, and what answers every request to it. */
export function createBackendApi(url: string): { site: Site; answer: Answering } {
  const handlers = new Map(listHandlers().map((handler): [Route, RouteHandler] => [handler.route, handler]));
  const nothing = handleEndpoint(nothingHere, { explain }, () => {
    throw new ApiError("not_found", { hint: `See the addresses at ${url}/docs.` });
  });
  const site: Site = {
    url,
    routeAt: (path) => findBackendRoute(path)?.route,
    clientVersion,
    loggedAs: "backend",
    isProxied: false,
    hasPageFor: () => true,
  };
  const answer: Answering = async (call) =>
    (await decide(call, explain)) ?? ((call.route && handlers.get(call.route)) ?? nothing)(call);
  return { site, answer };
}

function listHandlers(): RouteHandler[] {
  const names = Object.keys(backendRoutes) as (keyof typeof backendRoutes)[];
  return [
    ...names.map((name) => {
      const identify = (call: Call) => identifyBackend(call, backendRoutes[name]);
      return handleEndpoint<Backend>(backendRoutes[name], { identify, explain }, endpoints[name]);
    }),
    ...Object.values(clientRoutes).map((route) =>
      publishClient(route, () => readClientFile(`corner-office-backend${extname(route.path)}`)),
    ),
    handleOperation(openRoutes.docs, {}, ({ headers }) =>
      headers.get("accept")?.includes("text/html")
        ? { status: 200, body: backendPage(), mediaType: "text/html; charset=utf-8" }
        : { status: 200, body: backendMarkdown(), mediaType: "text/markdown; charset=utf-8" },
    ),
    handleOperation(openRoutes.openapi, {}, () => ({ status: 200, body: backendDescription() })),
  ];
}

/**
 * The response to a refusal, with the address where this API explains its code. What a check denies is the public
 * operation's.
 */
function explain(error: ApiError): ResponseParts {
  const { error: words, ...figures } = error.toJSON() as { error: { code: string }; ok?: false };
  const body =
    "ok" in figures ? error.toJSON() : { ...figures, error: { ...words, docs: docsOf(words.code) } };
  return { ...errorParts(error), body };
}

async function identifyBackend({ headers, site, nowMs }: Call, { needs }: BackendRoute): Promise<Backend> {
  const backend = await verifyAssertion(await store(), headers.get("authorization"), site.url, nowMs);
  requirePermission(backend, needs);
  return backend;
}
