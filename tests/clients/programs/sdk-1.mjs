import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { approval, provider } from "./owner.mjs";

const [, , address, tool] = process.argv;
const client = new Client({ name: "program", version: "1.0.0" });
const transport = new StreamableHTTPClientTransport(new URL(address), { authProvider: provider });
await client.connect(transport);
const call = () => client.callTool({ name: tool, arguments: {} });
const result = await call().catch(async (error) => {
  if (!(error instanceof UnauthorizedError)) throw error;
  await transport.finishAuth((await approval()).get("code"));
  return call();
});
process.stdout.write(JSON.stringify(result));
await client.close();
