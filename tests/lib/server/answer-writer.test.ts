import { afterAll, expect, it } from "vitest";
import { send } from "@/lib/server/answer-writer";
import type { JoinedMessage } from "@/lib/server/joined-message";
import { serve } from "@/tests/support/loopback";

async function* text(of: string[], failure?: Error) {
  yield* of;
  if (failure) throw failure;
}

/** Serves a text in parts: a whole one, or one whose source fails. */
const { url, stop } = await serve((incoming, outgoing) => {
  const parts = text(["a".repeat(100_000), "b"], incoming.url === "/fails" ? new Error("gone") : undefined);
  const answer = { status: 200, fields: ["content-type", "text/csv"], content: null, parts };
  void send(answer, incoming as JoinedMessage, outgoing);
});
afterAll(stop);

it.each([
  ["gzip", "gzip"],
  ["br;q=1, *;q=0.1", "gzip"],
  ["gzip;q=0", null],
  ["identity", null],
])("a text in parts is sent whole to a client that accepts %s", async (accepted, encoding) => {
  const response = await fetch(url, { headers: { "accept-encoding": accepted } });
  expect(response.headers.get("content-encoding")).toBe(encoding);
  expect(response.headers.get("vary")).toBe("Accept-Encoding");
  expect(response.headers.get("content-length")).toBeNull();
  expect(await response.text()).toBe(`${"a".repeat(100_000)}b`);
});

it.each(["gzip", "identity"])(
  "a text that breaks off in %s is not taken for a whole one",
  async (accepted) => {
    const asked = fetch(`${url}/fails`, { headers: { "accept-encoding": accepted } });
    await expect(asked.then((response) => response.text())).rejects.toThrow();
  },
);
