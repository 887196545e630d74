import { MultiServerMCPClient } from "@langchain/mcp-adapters";
import { ChatOpenAI } from "@langchain/openai";
import { auth } from "@modelcontextprotocol/sdk/client/auth.js";
import { createAgent } from "langchain";
import { approval, provider } from "./owner.mjs";

const [, , address, model, question] = process.argv;
const server = { transport: "http", url: address, authProvider: provider, automaticSSEFallback: false };
const client = new MultiServerMCPClient({ mcpServers: { "corner-office": server } });
const tools = await client.getTools().catch(async (error) => {
  if (provider.tokens()) throw error;
  await auth(provider, { serverUrl: address, authorizationCode: (await approval()).get("code") });
  return client.getTools();
});
const configuration = { baseURL: `${model}/v1` };
const agent = createAgent({
  model: new ChatOpenAI({ model: "stand-in", apiKey: "none", configuration }),
  tools,
});
const { messages } = await agent.invoke({ messages: [{ role: "user", content: question }] });
process.stdout.write(messages.at(-1).content);
await client.close();
