import { serve } from "@/tests/support/loopback";

/** Fakes Internet hosts: a fetch of an https URL returns that URL's document, once there is one. */
export async function startOutside(documents: Record<string, object | Promise<object>>) {
  const asked: string[] = [];
  const { url, stop } = await serve(async (request, response) => {
    const address = `https:/${request.url}`;
    asked.push(address);
    const document = await documents[address];
    response.writeHead(document ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(document ?? {}));
  });
  return {
    asked,
    environment: {
      NODE_OPTIONS: "--import ./tests/support/outside-fetch.mjs",
      TEST_OUTSIDE: url,
    },
    stop,
  };
}
