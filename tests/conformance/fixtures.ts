import { setTimeout as sleep } from "node:timers/promises";
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  fromJsonSchema,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  McpServer,
  ResourceTemplate,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";

/*
 * The tools, resources and prompts that the official suite requires of a tested server, with the names and texts of its
 * scenarios. They are unrelated to Corner Office, and no build of the service contains them.
 */

/** One red pixel. */
const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/** A WAV header without samples. */
const wav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

const state = createRequestStateCodec<{ round: number }>({ key: "conformance".repeat(4) });

/** A server with every feature that the suite can test without a stream or a session. */
export function createFixtureServer(): McpServer {
  const server = new McpServer(
    { name: "conformance-fixtures", version: "1.0.0" },
    {
      capabilities: {
        tools: { listChanged: false },
        resources: { listChanged: false, subscribe: true },
        prompts: { listChanged: false },
        logging: {},
        completions: {},
      },
      requestState: { verify: state.verify },
    },
  );
  addResources(server);
  addPrompts(server);
  for (const [name, run] of Object.entries(contentTools)) addTool(server, name, run);
  for (const [name, run] of Object.entries(askingTools)) addTool(server, name, run);
  for (const [name, run] of Object.entries(sessionTools)) addTool(server, name, run);
  server.registerTool(
    "json_schema_2020_12_tool",
    { description: "Tool with JSON Schema 2020-12 features", inputSchema: fromJsonSchema(schema202012) },
    () => say("ok"),
  );
  return server;
}

type Run = (context: ServerContext) => ToolAnswer | Promise<ToolAnswer>;
type ToolAnswer = CallToolResult | InputRequiredResult;

function addTool(server: McpServer, name: string, run: Run): void {
  server.registerTool(name, { description: "A fixture of the conformance suite." }, run);
}

function say(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}

const contentTools: Record<string, Run> = {
  test_simple_text: () => say("This is a simple text response for testing."),
  test_image_content: () => ({ content: [{ type: "image", data: png, mimeType: "image/png" }] }),
  test_audio_content: () => ({ content: [{ type: "audio", data: wav, mimeType: "audio/wav" }] }),
  test_embedded_resource: () => ({
    content: [
      {
        type: "resource",
        resource: {
          uri: "test://embedded-resource",
          mimeType: "text/plain",
          text: "This is an embedded resource content.",
        },
      },
    ],
  }),
  test_multiple_content_types: () => ({
    content: [
      { type: "text", text: "Multiple content types test:" },
      { type: "image", data: png, mimeType: "image/png" },
      {
        type: "resource",
        resource: {
          uri: "test://mixed-content-resource",
          mimeType: "application/json",
          text: '{"test":"data","value":123}',
        },
      },
    ],
  }),
  test_error_handling: () => ({
    ...say("This tool intentionally returns an error for testing"),
    isError: true,
  }),
  test_logging_tool: async ({ mcpReq }) => {
    await mcpReq.log("info", "Not to be seen unless a level was asked for");
    return say("Logged.");
  },
  test_tool_with_progress: async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) {
        await mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken, progress, total: 100 },
        });
      }
      await sleep(50);
    }
    return say("Done.");
  },
  test_tool_with_logging: async ({ mcpReq }) => {
    for (const step of ["started", "processing", "completed"])
      await mcpReq.log("info", `Tool execution ${step}`);
    return say("Logged.");
  },
  test_trigger_tool_change: () => say("The tools never change."),
};

/** Requests one text from a person. */
const askFor = (field: string, message: string) =>
  inputRequired.elicit({ message, requestedSchema: z.object({ [field]: z.string() }) });
const askToConfirm = inputRequired.elicit({
  message: "Please confirm",
  requestedSchema: z.object({ ok: z.boolean() }),
});
const askModel = (text: string) =>
  inputRequired.createMessage({
    messages: [{ role: "user", content: { type: "text", text } }],
    maxTokens: 100,
  });

const has = ({ mcpReq }: ServerContext, key: string) =>
  inputResponse(mcpReq.inputResponses, key).kind !== "missing";

/** Responds after a person has entered a name. */
const greet: Run = (context) => {
  const given = inputResponse(context.mcpReq.inputResponses, "user_name");
  const name = given.kind === "elicit" && given.content?.name;
  if (name) return say(`Hello, ${name}!`);
  return inputRequired({ inputRequests: { user_name: askFor("name", "What is your name?") } });
};

/** Responds after a person has confirmed and the client has returned the state unchanged. */
const confirm: Run = async (context) => {
  if (has(context, "confirm") && context.mcpReq.requestState()) return say("state-ok");
  const requestState = await state.mint({ round: 1 }, context);
  return inputRequired({ inputRequests: { confirm: askToConfirm }, requestState });
};

const askingTools: Record<string, Run> = {
  test_missing_capability: () =>
    inputRequired({ inputRequests: { question: askModel("Is anybody there?") } }),
  test_streaming_elicitation: greet,
  test_input_required_result_elicitation: greet,
  test_input_required_result_sampling: (context) => {
    if (has(context, "capital_question")) return say("Paris");
    return inputRequired({
      inputRequests: { capital_question: askModel("What is the capital of France?") },
    });
  },
  test_input_required_result_list_roots: ({ mcpReq }) => {
    const given = inputResponse(mcpReq.inputResponses, "client_roots");
    if (given.kind === "roots") return say(`Roots: ${given.roots.map(({ uri }) => uri).join(", ")}`);
    return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
  },
  test_input_required_result_request_state: confirm,
  test_input_required_result_tampered_state: confirm,
  test_input_required_result_multiple_inputs: async (context) => {
    if (["user_name", "greeting", "client_roots"].every((key) => has(context, key))) return say("All there.");
    return inputRequired({
      inputRequests: {
        user_name: askFor("name", "What is your name?"),
        greeting: askModel("Generate a greeting"),
        client_roots: inputRequired.listRoots(),
      },
      requestState: await state.mint({ round: 1 }, context),
    });
  },
  test_input_required_result_multi_round: async (context) => {
    const round = context.mcpReq.requestState<{ round: number }>()?.round ?? 0;
    if (round === 2 && has(context, "step2")) return say("Both steps done.");
    const next =
      round === 1 && has(context, "step1")
        ? { step2: askFor("color", "Step 2: What is your favorite color?") }
        : { step1: askFor("name", "Step 1: What is your name?") };
    const requestState = await state.mint({ round: "step2" in next ? 2 : 1 }, context);
    return inputRequired({ inputRequests: next, requestState });
  },
  test_input_required_result_capabilities: ({ mcpReq }) => {
    const declared = (mcpReq.envelope as Record<string, ClientCapabilities | undefined>)[
      CLIENT_CAPABILITIES_META_KEY
    ];
    const inputRequests = {
      ...(declared?.sampling && { question: askModel("Is anybody there?") }),
      ...(declared?.elicitation && { user_name: askFor("name", "What is your name?") }),
    };
    return inputRequired({ inputRequests });
  },
};

/** Tools that send a request to the client before their result, which in 2025-11-25 needs a stream and a session. */
const sessionTools: Record<string, Run> = {
  test_sampling: async ({ mcpReq }) => {
    const messages = [
      { role: "user" as const, content: { type: "text" as const, text: "Is anybody there?" } },
    ];
    await mcpReq.requestSampling({ messages, maxTokens: 100 }, { timeout: 1000 });
    return say("Somebody is there.");
  },
  test_elicitation: elicit,
  test_elicitation_sep1034_defaults: elicit,
  test_elicitation_sep1330_enums: elicit,
};

async function elicit({ mcpReq }: ServerContext): Promise<CallToolResult> {
  const requestedSchema = { type: "object" as const, properties: { ok: { type: "boolean" as const } } };
  await mcpReq.elicitInput({ message: "Please confirm", requestedSchema });
  return say("Confirmed.");
}

function addResources(server: McpServer): void {
  const about = (mimeType: string) => ({ description: "A fixture of the conformance suite.", mimeType });
  server.registerResource("static-text", "test://static-text", about("text/plain"), ({ href: uri }) => ({
    contents: [{ uri, mimeType: "text/plain", text: "This is the content of the static text resource." }],
  }));
  server.registerResource("static-binary", "test://static-binary", about("image/png"), ({ href: uri }) => ({
    contents: [{ uri, mimeType: "image/png", blob: png }],
  }));
  server.registerResource("watched", "test://watched-resource", about("text/plain"), ({ href: uri }) => ({
    contents: [{ uri, mimeType: "text/plain", text: "It never changes." }],
  }));
  server.registerResource(
    "template",
    new ResourceTemplate("test://template/{id}/data", { list: undefined }),
    about("application/json"),
    ({ href: uri }, { id }) => {
      const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
      return { contents: [{ uri, mimeType: "application/json", text }] };
    },
  );
  server.server.setRequestHandler("resources/subscribe", () => ({}));
  server.server.setRequestHandler("resources/unsubscribe", () => ({}));
}

function addPrompts(server: McpServer): void {
  const description = "A fixture of the conformance suite.";
  const user = "user" as const;
  const text = (words: string) => ({ role: user, content: { type: "text" as const, text: words } });
  server.registerPrompt("test_simple_prompt", { description }, () => ({
    messages: [text("This is a simple prompt for testing.")],
  }));
  server.registerPrompt(
    "test_prompt_with_arguments",
    { description, argsSchema: z.object({ arg1: z.string(), arg2: z.string() }) },
    ({ arg1, arg2 }) => ({ messages: [text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] }),
  );
  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    { description, argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri: uri }) => {
      const resource = { uri, mimeType: "text/plain", text: "Embedded resource content for testing." };
      return {
        messages: [
          { role: user, content: { type: "resource", resource } },
          text("Please process the embedded resource above."),
        ],
      };
    },
  );
  server.registerPrompt("test_prompt_with_image", { description }, () => ({
    messages: [
      { role: user, content: { type: "image", data: png, mimeType: "image/png" } },
      text("Please analyze the image above."),
    ],
  }));
  server.registerPrompt("test_input_required_result_prompt", { description }, (context) => {
    const given = inputResponse(context.mcpReq.inputResponses, "user_context");
    if (given.kind === "elicit") return { messages: [text(`In the context of ${given.content?.context}`)] };
    return inputRequired({
      inputRequests: { user_context: askFor("context", "What context should the prompt use?") },
    });
  });
  server.server.setRequestHandler("completion/complete", () => ({ completion: { values: [] } }));
}

const schema202012 = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // biome-ignore lint/suspicious/noThenProperty: "then" is a keyword of JSON Schema, and no one awaits this object.
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};
