import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Fakes Internet hosts: a fetch of an https URL returns that URL's document. */
export async function startOutside(documents: Record<string, object>) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const address = `https:/${request.url}`;
    asked.push(address);
    const document = documents[address];
    response.writeHead(document ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(document ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    asked,
    environment: {
      NODE_OPTIONS: "--import ./tests/support/outside-fetch.mjs",
      TEST_OUTSIDE: `http://127.0.0.1:${port}`,
    },
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}
