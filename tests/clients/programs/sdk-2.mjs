import { Client, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";
import { approval, provider } from "./owner.mjs";

const [, , address, tool] = process.argv;
const client = new Client({ name: "program", version: "1.0.0" });
const transport = new StreamableHTTPClientTransport(new URL(address), { authProvider: provider });
await client.connect(transport);
const call = () => client.callTool({ name: tool, arguments: {} });
const result = await call().catch(async (error) => {
  if (!(error instanceof UnauthorizedError)) throw error;
  await transport.finishAuth(await approval());
  return call();
});
process.stdout.write(JSON.stringify(result));
await client.close();
