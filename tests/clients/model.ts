import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { serve } from "@/tests/support/loopback";

/** A tool as the model was offered it; Codex groups an MCP server's tools in a namespace. */
type Tool = { name: string; namespace?: string };
/** The request of an agent to its model: the tools, and the newest result of one of them, as text. */
type Turn = { tools: Tool[]; result?: string | undefined };
/** Each call has an id of its own: agents ignore one that they have seen. */
type Reply = { call: Tool; input: object; id: string } | { text: string };
/** One server-sent event. */
type Event = { type?: string; [field: string]: unknown };

type Dialect = {
  path: RegExp;
  read(body: object): Turn;
  /** The whole answer, for a request that does not stream. */
  answer: (reply: Reply) => object;
  /** The same answer as a stream of events. */
  stream: (reply: Reply) => Event[];
};

const model = "stand-in";

/**
 * Starts a stand-in for an agent's model on loopback. It speaks Anthropic Messages, OpenAI Responses and Chat
 * Completions, and Gemini. It calls the tool if it was offered it, and then repeats the tool's result.
 */
export function startModel(tool: string) {
  return serve(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost");
    const dialect = dialects.find(({ path }) => path.test(pathname));
    if (!dialect) return send(response, { data: [{ id: model, object: "model" }] });
    const body = (await json(request)) as { stream?: boolean };
    const reply = think(dialect.read(body), tool);
    const streams = body.stream || searchParams.get("alt") === "sse";
    if (!streams) return send(response, dialect.answer(reply));
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of dialect.stream(reply)) {
      if (event.type) response.write(`event: ${event.type}\n`);
      response.write(`data: ${JSON.stringify(event)}\n\n`);
    }
    if (dialect === chatCompletions) response.write("data: [DONE]\n\n");
    response.end();
  });
}

function send(response: ServerResponse, answer: object): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(answer));
}

function think({ tools, result }: Turn, tool: string): Reply {
  if (result) return { text: `The tool says: ${result}` };
  // Tools that run at the model's maker have no name.
  const call = tools.find(({ name = "" }) => name.endsWith(tool));
  const id = `call_${randomUUID()}`;
  if (call) return { call, input: {}, id };
  // Claude Code offers the tools of MCP servers only to a model that searches for them.
  const search = tools.find(({ name }) => name === "ToolSearch");
  if (search) return { call: search, input: { query: tool, max_results: 1 }, id };
  return { text: `I was not offered ${tool}, only: ${tools.map(({ name }) => name)}` };
}

type Content = string | { text?: string }[];

function textOf(content?: Content): string | undefined {
  return typeof content === "object" ? content.map(({ text = "" }) => text).join("") : content;
}

type Block = { type: string; content?: Content };
const anthropicUsage = { input_tokens: 1, output_tokens: 1 };
const anthropicMessages: Dialect = {
  path: /\/v1\/messages$/,
  read({ tools = [], messages }: { tools?: Tool[]; messages: { content: string | Block[] }[] }) {
    const blocks = messages.flatMap(({ content }) => (typeof content === "string" ? [] : content));
    return { tools, result: textOf(blocks.findLast(({ type }) => type === "tool_result")?.content) };
  },
  answer: (reply) => ({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model,
    content: [
      "call" in reply
        ? { type: "tool_use", id: reply.id, name: reply.call.name, input: reply.input }
        : { type: "text", text: reply.text },
    ],
    stop_reason: "call" in reply ? "tool_use" : "end_turn",
    stop_sequence: null,
    usage: anthropicUsage,
  }),
  stream(reply) {
    const message = { ...this.answer(reply), content: [], stop_reason: null };
    const [block, delta, stop_reason] =
      "call" in reply
        ? [
            { type: "tool_use", id: reply.id, name: reply.call.name, input: {} },
            { type: "input_json_delta", partial_json: JSON.stringify(reply.input) },
            "tool_use",
          ]
        : [{ type: "text", text: "" }, { type: "text_delta", text: reply.text }, "end_turn"];
    return [
      { type: "message_start", message },
      { type: "content_block_start", index: 0, content_block: block },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: anthropicUsage },
      { type: "message_stop" },
    ];
  },
};

type OfferedTool = { name: string; tools?: Tool[] };
type Item = { type?: string; output?: Content };
const responses: Dialect = {
  path: /\/responses$/,
  read({ tools = [], input }: { tools?: OfferedTool[]; input: Item[] }) {
    return {
      tools: tools.flatMap(
        ({ name, tools }) => tools?.map((tool) => ({ name: tool.name, namespace: name })) ?? { name },
      ),
      result: textOf(input.findLast(({ type }) => type === "function_call_output")?.output),
    };
  },
  answer: (reply) => ({
    id: "resp_1",
    object: "response",
    created_at: 0,
    model,
    status: "completed",
    output: [
      "call" in reply
        ? {
            type: "function_call",
            id: "fc_1",
            call_id: reply.id,
            name: reply.call.name,
            namespace: reply.call.namespace,
            arguments: "{}",
            status: "completed",
          }
        : {
            type: "message",
            id: "msg_1",
            role: "assistant",
            status: "completed",
            content: [{ type: "output_text", text: reply.text, annotations: [] }],
          },
    ],
    usage: {
      input_tokens: 1,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 1,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 2,
    },
  }),
  stream(reply) {
    const response = this.answer(reply) as { output: object[] };
    const [item] = response.output;
    return [
      { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
      { type: "response.output_item.added", output_index: 0, item },
      ...("text" in reply
        ? [
            {
              type: "response.output_text.delta",
              item_id: "msg_1",
              output_index: 0,
              content_index: 0,
              delta: reply.text,
            },
          ]
        : []),
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response },
    ];
  },
};

type Message = { role: string; content: Content };
const chatUsage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
const chatCompletions: Dialect = {
  path: /\/chat\/completions$/,
  read({ tools = [], messages }: { tools?: { function: Tool }[]; messages: Message[] }) {
    return {
      tools: tools.map((offered) => offered.function),
      result: textOf(messages.findLast(({ role }) => role === "tool")?.content),
    };
  },
  answer: (reply) => ({
    id: "chatcmpl_1",
    object: "chat.completion",
    created: 0,
    model,
    choices: [{ index: 0, message: chatMessage(reply), finish_reason: finishReason(reply) }],
    usage: chatUsage,
  }),
  stream(reply) {
    const chunk = { id: "chatcmpl_1", object: "chat.completion.chunk", created: 0, model };
    return [
      { ...chunk, choices: [{ index: 0, delta: chatMessage(reply), finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: finishReason(reply) }], usage: chatUsage },
    ];
  },
};

function chatMessage(reply: Reply): object {
  if ("text" in reply) return { role: "assistant", content: reply.text };
  const call = { name: reply.call.name, arguments: "{}" };
  return {
    role: "assistant",
    content: null,
    tool_calls: [{ index: 0, id: reply.id, type: "function", function: call }],
  };
}

function finishReason(reply: Reply): string {
  return "call" in reply ? "tool_calls" : "stop";
}

type Part = { functionResponse?: { response: object } };
const gemini: Dialect = {
  path: /:(stream)?generateContent$/i,
  read({
    tools = [],
    contents,
  }: {
    tools?: { functionDeclarations?: Tool[] }[];
    contents: { parts: Part[] }[];
  }) {
    const parts = contents.flatMap(({ parts }) => parts);
    const result = parts.findLast(({ functionResponse }) => functionResponse)?.functionResponse?.response;
    return {
      tools: tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations),
      result: result && JSON.stringify(result),
    };
  },
  answer: (reply) => {
    const part =
      "call" in reply ? { functionCall: { name: reply.call.name, args: {} } } : { text: reply.text };
    return {
      candidates: [{ content: { role: "model", parts: [part] }, finishReason: "STOP", index: 0 }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      modelVersion: model,
    };
  },
  stream(reply) {
    return [{ ...this.answer(reply) }];
  },
};

const dialects = [anthropicMessages, responses, chatCompletions, gemini];
