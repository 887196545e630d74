import {
  createMcpHandler,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type McpServer,
  PROTOCOL_VERSION_META_KEY,
  ProtocolErrorCode,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { type Caller, identifyCaller } from "@/lib/accounts/caller";
import { challenge, hintOfProof, type Refused } from "@/lib/auth/tokens/credential";
import { settings } from "@/lib/config/settings";
import { type Call, parseTraceparent, type SentHeaders } from "@/lib/http/call";
import { ApiError } from "@/lib/http/errors";
import { handleOperation } from "@/lib/http/handler";
import { parseJson } from "@/lib/http/json";
import { mcpServer } from "@/lib/http/register/mcp";
import type { ResponseParts } from "@/lib/http/response";
import { turnsOf } from "@/lib/http/turns";
import { findParamsProblem, type Message } from "@/lib/mcp/params";
import { classify, withVersionOnce } from "@/lib/mcp/protocol-version";
import { createMcpServer } from "@/lib/mcp/server";
import { callTool, parseSimpleCall, resultOf, type SimpleCall, toMessage } from "@/lib/mcp/tool-call";
import { tools } from "@/lib/mcp/tools";
import { authorizationHint } from "@/lib/oauth/server-metadata";

/** The route handler of the MCP server at a path. Failures of HTTP are an ApiError, those of JSON-RPC a JSON-RPC error. */
export function mcpEndpoint(path: (typeof mcpServer.paths)[number], createServer = createMcpServer) {
  const quotaKey = (call: Call) => (call.client.isHosted ? accountKey(call) : undefined);
  return handleOperation({ ...mcpServer, path }, { quotaKey }, (call) =>
    answerMessage(call, path, createServer),
  );
}

/** The key of the caller's account, because a hosted agent sends the requests of many owners from one address. */
async function accountKey(call: Call): Promise<string | undefined> {
  const caller = await call.once(identifyBearer);
  return caller.is === "account" ? `account ${caller.account.id}` : undefined;
}

async function answerMessage(
  request: Call,
  path: (typeof mcpServer.paths)[number],
  createServer: typeof createMcpServer,
): Promise<ResponseParts> {
  const { body } = request;
  const headers = withVersionOnce(request.headers);
  const sent = parseJson(body);
  if (isTooLarge(sent)) return refuse(ProtocolErrorCode.InvalidRequest, tooLarge, idOf(sent));
  const message = withoutEmpty(sent);
  const call = parseSimpleCall(message, headers);
  const needsToken = path === mcpServer.accountPath || needsAccount(message);
  const caller = needsToken ? await request.once(identifyBearer) : anonymousCaller;
  if (needsToken && caller.is === "signed-out") return refuseSignedOut(caller, request.path, call);
  requireJson(headers);
  if (message === undefined) return refuse(ProtocolErrorCode.ParseError, "Parse error: the body is not JSON");
  request.traceId ??= parseTraceparent(metaOf(message).traceparent)?.traceId;
  if (call) {
    const { tool, input } = call;
    const run = () => callTool(tool, input, caller, request);
    return { status: 200, body: toMessage(call, await (tool.computes ? inTurn(request, run) : run())) };
  }
  if (!isMessage(message)) {
    const why = Array.isArray(message)
      ? "batches are not accepted, send one message at a time"
      : "the body is not a JSON-RPC 2.0 message";
    return refuse(ProtocolErrorCode.InvalidRequest, `Invalid Request: ${why}`, idOf(message));
  }
  const answer = () => exchange(headers, message, (isLegacy) => createServer(caller, request, isLegacy));
  // One of an account may wait for the store.
  return needsToken ? answer() : inTurn(request, answer);
}

/** Who sends a message that needs no token. */
const anonymousCaller: Caller = { is: "signed-out", tokenWasSent: false };

/** Whether a message needs a token at any path. Others are not refused, because a client starts its sign-in on a 401. */
function needsAccount(message: unknown): boolean {
  const { method, params } = (message ?? {}) as Message;
  return (
    method === "tools/call" && tools.some(({ name, needsSession }) => needsSession && name === params?.name)
  );
}

const identifyBearer = (call: Call) => identifyCaller(call, "mcp");

/**
 * A 401 with the authorization metadata (RFC 9728), at which clients start their sign-in. The answer to a tool call is
 * also a result, at which ChatGPT asks its user to sign in: developers.openai.com/apps-sdk/build/auth. Throws the 401 for
 * any other message.
 */
function refuseSignedOut(refused: Refused, path: string, call: SimpleCall | undefined): ResponseParts {
  const hint = authorizationHint(path);
  const headers = challenge(refused, hint);
  const error = new ApiError("signed_out", { headers, hint: hintOfProof(refused) ?? hintToSignIn(path) });
  if (!call) throw error;
  // ChatGPT needs both parameters, whether or not a token was sent.
  const told = challenge({ ...refused, tokenWasSent: true }, { error_description: error.message, ...hint });
  const _meta = { "mcp/www_authenticate": [told["www-authenticate"]] };
  const body = toMessage(call, { ...resultOf(error.toJSON(), false), isError: true, _meta });
  return { status: error.status, body, headers: Object.entries(headers).flat() };
}

/** For a model and its user, whose client did not start the sign-in: never to bring a token into their conversation. */
function hintToSignIn(path: string): string {
  const { appUrl } = settings();
  const elsewhere = path.startsWith(mcpServer.accountPath)
    ? ""
    : ` If it does not ask, connect it to ${appUrl}${mcpServer.accountPath} instead.`;
  return `Sign in with the MCP client, which asks the account's owner in a browser.${elsewhere} A token goes into its settings, as 'Authorization: Bearer <SESSION_TOKEN>', and never into the conversation.`;
}

/** The field may come twice: from some libraries in another case too, where a person has set it as well. */
function requireJson(headers: SentHeaders): void {
  const sent = headers.get("content-type") ?? "";
  if (sent.split(",").every((type) => /^\s*application\/json\s*(?:;|$)/i.test(type))) return;
  throw new ApiError("invalid_request", {
    status: 415,
    message: "The Content-Type of the body is not application/json.",
    hint: "Send one JSON-RPC message as 'Content-Type: application/json'.",
  });
}

/** Computes in turns, so that an app's entitlement does not wait behind searches from many addresses. */
function inTurn<T>(call: Call, compute: () => Promise<T>): Promise<T> {
  return turnsOf("messages").run(call.circles, call.signal, compute);
}

const maxDepth = 100;
const maxValues = 1000;
const tooLarge = `Invalid Request: the message is nested more than ${maxDepth} levels deep or has more than ${maxValues} values`;

/**
 * Whether a message is nested so deep that to read or write it would overflow the stack, or is so wide that to validate it
 * takes ten times as long as a search.
 */
function isTooLarge(message: unknown): boolean {
  let level = [message];
  let values = 0;
  for (let depth = 0; level.length > 0; depth++) {
    values += level.length;
    if (depth > maxDepth || values > maxValues) return true;
    level = level.flatMap((value) => (typeof value === "object" && value ? Object.values(value) : []));
  }
  return false;
}

/** Some clients write `null` for what they leave out, those in PHP `[]` for an empty object. Changes the message. */
function withoutEmpty(message: unknown): unknown {
  const sent = Object(message);
  if (isEmpty(sent.params)) delete sent.params;
  const params: Record<string, unknown> = Object(sent.params);
  // All lists among them would be wrong, and some of the objects are required.
  for (const name of Object.keys(params)) if (isEmptyList(params[name])) params[name] = {};
  removeEmpty(params);
  return message;
}

function removeEmpty(fields: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(fields)) {
    if (isEmpty(value)) delete fields[name];
    else if (typeof value === "object" && !Array.isArray(value)) removeEmpty(Object(value));
  }
}

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;

const isEmpty = (value: unknown) => value === null || isEmptyList(value);

/** The metadata of a message, where MCP clients also send what the header `traceparent` says. */
function metaOf(message: unknown): { traceparent?: unknown } {
  return (message as { params?: { _meta?: object } } | null)?.params?._meta ?? {};
}

function isMessage(value: unknown): value is Message {
  return isJSONRPCRequest(value) || isJSONRPCNotification(value) || isJSONRPCResponse(value);
}

/** The id of an invalid message, for its error (JSON-RPC 2.0 §5). */
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

/** Answers a message of protocol 2026-07-28, which is stateless, or of an earlier one, which starts with `initialize`. */
async function exchange(
  headers: SentHeaders,
  message: Message,
  createServer: (isLegacy: boolean) => McpServer,
): Promise<ResponseParts> {
  const { method, id = null } = message;
  const own = new Headers([...headers]);
  // Its answer names the version, so a header that a client sends all the same says only which is its newest.
  if (method === "initialize" && !(PROTOCOL_VERSION_META_KEY in metaOf(message)))
    own.delete("mcp-protocol-version");
  const isLegacy = classify(own, message).kind === "legacy";
  // In 2026-07-28 `initialize` is an unknown method, whatever its params.
  const problem = isLegacy || method !== "initialize" ? findParamsProblem(message) : undefined;
  if (problem) return { status: 200, body: rpcError(ProtocolErrorCode.InvalidParams, problem, id) };
  let failure: unknown;
  const onerror = (error: Error) => {
    failure = error;
  };
  // Clients send all kinds of Accept fields, and every client can read JSON.
  own.set("accept", "application/json, text/event-stream");
  own.set("content-type", "application/json");
  const request = new Request(`${settings().appUrl}/mcp`, { method: "POST", headers: own });
  const parsed = { parsedBody: message };
  const response = isLegacy
    ? await answerLegacy(createServer(true), request, parsed)
    : await createMcpHandler(() => createServer(false), { legacy: "reject", onerror }).fetch(request, parsed);
  if (response.status >= 500) throw failure ?? new Error(`the MCP library answered ${response.status}`);
  const mediaType = response.headers.get("content-type");
  return {
    status: response.status,
    body: response.body && (await response.text()),
    ...(mediaType && { mediaType }),
  };
}

/** Answers in JSON and without a session. */
async function answerLegacy(
  server: McpServer,
  ...request: Parameters<WebStandardStreamableHTTPServerTransport["handleRequest"]>
): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  return transport.handleRequest(...request);
}
