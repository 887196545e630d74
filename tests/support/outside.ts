import { serve } from "@/tests/support/loopback";

/** Fakes Internet hosts: a fetch of an https URL returns that URL's document. */
export async function startOutside(documents: Record<string, object>) {
  const asked: string[] = [];
  const { url, stop } = await serve((request, response) => {
    const address = `https:/${request.url}`;
    asked.push(address);
    const document = documents[address];
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
