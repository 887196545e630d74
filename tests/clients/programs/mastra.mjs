import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { Agent } from "@mastra/core/agent";
import { MCPClient, MCPOAuthClientProvider } from "@mastra/mcp";
import { clientMetadata, open, redirectUrl } from "./owner.mjs";

const [, , address, model, question, clientId] = process.argv;
const file = "mastra.json";
const authProvider = new MCPOAuthClientProvider({
  redirectUrl: redirectUrl.replace(/\d+(?=\/)/, "5533"),
  clientMetadata,
  clientInformation: { client_id: clientId },
  onRedirectToAuthorization: open,
  storage: {
    get: (key) => read()[key],
    set: (key, value) => write({ ...read(), [key]: value }),
    delete: (key) => write({ ...read(), [key]: undefined }),
  },
});
const client = new MCPClient({ servers: { office: { url: new URL(address), authProvider } } });
// This connects, and asks the owner if that is refused: it alone listens for the redirect.
await client.authenticate("office");
const agent = new Agent({
  id: "assistant",
  name: "assistant",
  instructions: "Answer with the tools.",
  model: { id: "local/stand-in", url: `${model}/v1`, apiKey: "none" },
  tools: await client.listTools(),
});
process.stdout.write((await agent.generate(question)).text);
await client.disconnect();

function read() {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
}

function write(state) {
  writeFileSync(file, JSON.stringify(state));
}
