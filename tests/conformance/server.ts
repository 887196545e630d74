import { send, toRequest } from "@/lib/front/exchange";
import { createFrontServer } from "@/lib/front/server";
import { mcpEndpoint } from "@/lib/mcp/endpoint";
import { settings } from "@/lib/settings/settings";
import { createFixtureServer } from "@/tests/conformance/fixtures";

/** The front server and the MCP endpoint of the service, with the suite's fixtures in place of our own tools. */
const { POST, OPTIONS } = mcpEndpoint("/mcp", createFixtureServer);
const { port, appUrl } = settings();

createFrontServer({
  throughNext: true,
  showPage: async (incoming, outgoing) => {
    const answer = incoming.method === "OPTIONS" ? OPTIONS : POST;
    await send(await answer(toRequest(incoming, appUrl + incoming.url)), incoming, outgoing);
  },
}).listen(port);
