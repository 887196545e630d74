import { settings } from "@/lib/config/settings";
import { IncomingRequest } from "@/lib/http/incoming-request";
import { mcpEndpoint } from "@/lib/mcp/handler";
import { createFrontServer } from "@/lib/server/server";
import { ask, send } from "@/lib/server/web-adapter";
import { createFixtureServer } from "@/tests/conformance/fixtures";

/** The front server and the MCP endpoint of the service, with the suite's fixtures in place of our own tools. */
const { POST, OPTIONS } = mcpEndpoint("/mcp", createFixtureServer);
const { port, appUrl } = settings();

createFrontServer({
  throughNext: true,
  handlePage: async (incoming, outgoing) => {
    const answer = incoming.method === "OPTIONS" ? OPTIONS : POST;
    send(await ask(answer, new IncomingRequest(incoming, appUrl + incoming.url)), incoming, outgoing);
  },
}).listen(port);
