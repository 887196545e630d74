import {
  createMcpHandler,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  isJsonContentType,
  type McpServer,
  ProtocolErrorCode,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/server";
import { type Caller, identifyCaller } from "@/lib/accounts/caller";
import { challenge } from "@/lib/auth/credential";
import { settings } from "@/lib/config/settings";
import { ApiError } from "@/lib/http/errors";
import { createApiHandlers, type HandlerRequest } from "@/lib/http/handler";
import { parseJson } from "@/lib/http/json";
import { mcpServer } from "@/lib/http/operations";
import type { RequestContext } from "@/lib/http/request-context";
import type { ResponseParts } from "@/lib/http/response";
import { classify, unknownRevision } from "@/lib/mcp/classification";
import { requireOurHost } from "@/lib/mcp/host-check";
import { MessageRequest } from "@/lib/mcp/message-request";
import { findParamsProblem, type Message } from "@/lib/mcp/params";
import { createMcpServer } from "@/lib/mcp/server";
import { OneMessage } from "@/lib/mcp/single-message-transport";
import { parseSimpleCall, runSimpleCall } from "@/lib/mcp/tool-call";
import { tools } from "@/lib/mcp/tools";
import { authorizationHint } from "@/lib/oauth/metadata";

/**
 * The route handlers of the MCP server at one of its two addresses. What HTTP can say is refused with an ApiError,
 * what JSON-RPC can say with a JSON-RPC error.
 *
 * @param createServer - makes the server of one request
 */
export function mcpEndpoint(path: (typeof mcpServer.paths)[number], createServer = createMcpServer) {
  return createApiHandlers({ ...mcpServer, path }, (request) => answerMessage(request, createServer), {
    checkAddressee: requireOurHost,
    checkPost: requireJson,
  });
}

async function answerMessage(
  { headers, body, context }: HandlerRequest,
  createServer: typeof createMcpServer,
): Promise<ResponseParts> {
  const message = parseJson(body);
  if (message === undefined) return refuse(ProtocolErrorCode.ParseError, "Parse error: the body is not JSON");
  const call = parseSimpleCall(message, headers);
  if (call) {
    const caller = call.tool.needsSession ? await identifyBearer(headers, context) : nobody;
    return { status: 200, body: await runSimpleCall(call, caller, context) };
  }
  if (!isMessage(message))
    return refuse(ProtocolErrorCode.InvalidRequest, whatIsWrong(message), idOf(message));
  const caller = readsAccount(message) ? await identifyBearer(headers, context) : nobody;
  return exchange(headers, message, caller, context, createServer);
}

function requireJson(headers: Headers): void {
  if (isJsonContentType(headers.get("content-type"))) return;
  throw new ApiError("invalid_request", {
    status: 415,
    message: "The Content-Type of the body is not application/json.",
    hint: "Send one JSON-RPC message as 'Content-Type: application/json'.",
  });
}

function isMessage(value: unknown): value is Message {
  return isJSONRPCRequest(value) || isJSONRPCNotification(value) || isJSONRPCResponse(value);
}

function whatIsWrong(value: unknown): string {
  return Array.isArray(value)
    ? "Invalid Request: batches are not accepted, send one message at a time"
    : "Invalid Request: the body is not a JSON-RPC 2.0 message";
}

/** The id of a message that is not valid otherwise, to be repeated in its error (JSON-RPC 2.0 §5). */
function idOf(value: unknown): string | number | null {
  const { id } = (value ?? {}) as { id?: unknown };
  return typeof id === "string" || typeof id === "number" ? id : null;
}

function refuse(code: number, message: string, id: string | number | null = null): ResponseParts {
  return { status: 400, body: rpcError(code, message, id) };
}

function rpcError(code: number, message: string, id: string | number | null) {
  return { jsonrpc: "2.0", error: { code, message }, id };
}

/** Who asks for what anybody may have. */
const nobody: Caller = { is: "signed-out", tokenWasSent: false };

/** A client that is refused begins to ask its owner for an account, so only what needs one is. */
function readsAccount({ method, params }: Message): boolean {
  return (
    method === "tools/call" && tools.some(({ name, needsSession }) => needsSession && name === params?.name)
  );
}

/**
 * Identifies the caller by a bearer token alone: a browser sends a cookie with requests that nobody meant. Throws
 * a 401 without a good one, which tells the client how it is let in.
 */
async function identifyBearer(headers: Headers, context: RequestContext): Promise<Caller> {
  const authorization = headers.get("authorization");
  const caller = await identifyCaller(
    new Headers(authorization === null ? {} : { authorization }),
    context,
    "mcp",
  );
  if (caller.is === "signed-out") {
    const told = challenge(caller.tokenWasSent, authorizationHint(context.path));
    throw new ApiError("signed_out", { headers: { "www-authenticate": told } });
  }
  return caller;
}

/**
 * Answers a message in the era that it speaks: 2026-07-28, where every request says all about itself, or one of the
 * revisions before, which begin with `initialize`.
 */
async function exchange(
  sent: Headers,
  message: Message,
  caller: Caller,
  context: RequestContext,
  createServer: typeof createMcpServer,
): Promise<ResponseParts> {
  const { method, id = null } = message;
  const route = classify(sent, message);
  const isOlder = route.kind === "legacy";
  // To 2026-07-28 `initialize` is no method, whatever its params.
  const wrong = isOlder || method !== "initialize" ? findParamsProblem(message) : undefined;
  if (wrong) return { status: 200, body: rpcError(ProtocolErrorCode.InvalidParams, wrong, id) };
  const refused = isOlder ? refuseRevision(sent, method) : undefined;
  if (refused) return refused;
  const serverOfThis = () => createServer(caller, context);
  return isOlder ? answerOlder(message, serverOfThis()) : answerNewest(sent, message, serverOfThis);
}

async function answerNewest(
  sent: Headers,
  message: Message,
  createServer: () => McpServer,
): Promise<ResponseParts> {
  let failure: unknown;
  const onerror = (error: Error) => {
    failure = error;
  };
  const request = new MessageRequest(`${settings().appUrl}/mcp`, sent) as unknown as Request;
  const handler = createMcpHandler(createServer, { legacy: "reject", onerror });
  const response = await handler.fetch(request, { parsedBody: message });
  if (response.status >= 500) throw failure ?? new Error(`the MCP library answered ${response.status}`);
  const mediaType = response.headers.get("content-type");
  return {
    status: response.status,
    body: response.body && (await response.text()),
    ...(mediaType && { mediaType }),
  };
}

/** Refuses a revision that is none of those before, where one is named and nothing is being agreed on. */
function refuseRevision(sent: Headers, method: string | undefined): ResponseParts | undefined {
  const version = unknownRevision(sent);
  if (version === undefined || method === "initialize") return undefined;
  const known = SUPPORTED_PROTOCOL_VERSIONS.join(", ");
  return refuse(
    unnamed,
    `Bad Request: Unsupported protocol version: ${version} (supported versions: ${known})`,
  );
}

/** Of JSON-RPC's own range, for what the protocol has no code for. */
const unnamed = -32000;

/**
 * The answer in the revisions before, without a session: a message that expects none is taken (202), and a request has
 * the one that the server sends.
 */
async function answerOlder(message: Message, server: McpServer): Promise<ResponseParts> {
  if (!isJSONRPCRequest(message)) return { status: 202, body: null };
  const carrier = new OneMessage();
  await server.connect(carrier);
  return { status: 200, body: await carrier.carry(message) };
}
