import dns from "node:dns/promises";
import { createServer as createHttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { syncBuiltinESMExports } from "node:module";
import { type AddressInfo, createServer } from "node:net";
import { expect, it, onTestFinished, vi } from "vitest";
import { Receiver } from "@/lib/events/receiver";
import { certificate } from "@/tests/support/certificate";
import { createFolder } from "@/tests/support/leash";

/** What we make of an answer's bytes, after which its server closes the connection. */
async function deliverTo(answer: string) {
  vi.stubEnv("DATA_DIR", createFolder());
  const server = createServer((socket) => {
    socket.on("error", () => {}).once("data", () => socket.end(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const receiver = new Receiver(new URL(`http://127.0.0.1:${port}/events`));
  onTestFinished(() => {
    receiver.close();
    server.close();
    vi.unstubAllEnvs();
  });
  return receiver.post({}, "{}");
}

it.each([
  // nodejs/node#7136, openstreetmap/operations#910
  ["200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", 200],
  ["200 OK\nContent-Length: 2\n\nok", 200],
  ["204 No Content\r\nContent-Length: 2\r\n\r\nok", 204],
  ["204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 204],
  ["200\r\nContent-Length: 2\r\n\r\nok", 200],
])("an event is accepted by %j", async (answer, status) => {
  expect(await deliverTo(`HTTP/1.1 ${answer}`)).toMatchObject({ status });
});

it("an event is not accepted by an answer that breaks off", async () => {
  const answer = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok";
  expect(await deliverTo(answer)).toMatchObject({ status: null, answer: "the answer broke off" });
});

it("a certificate that no known authority has signed is refused, with what to do", async () => {
  vi.stubEnv("DATA_DIR", createFolder());
  const server = createHttpsServer(certificate(), (_, response) => response.end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const receiver = new Receiver(new URL(`https://127.0.0.1:${port}/events`));
  onTestFinished(() => {
    receiver.close();
    server.close();
    vi.unstubAllEnvs();
  });
  expect(await receiver.post({}, "{}")).toEqual({
    status: null,
    answer:
      "self-signed certificate: the receiver must send its intermediate certificates as well, and NODE_EXTRA_CA_CERTS must name an authority of your own",
    retryAfterMs: 0,
  });
});

it("the name of a receiver is looked up once for all events that wait for it", async () => {
  vi.stubEnv("DATA_DIR", createFolder());
  const asked = vi.spyOn(dns, "lookup");
  syncBuiltinESMExports();
  const server = createHttpServer((_, response) => response.end());
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  const { port } = server.address() as AddressInfo;
  const receiver = new Receiver(new URL(`http://localhost:${port}/events`));
  onTestFinished(() => {
    receiver.close();
    server.close();
    asked.mockRestore();
    syncBuiltinESMExports();
    vi.unstubAllEnvs();
  });
  const answers = await Promise.all(Array.from({ length: 32 }, () => receiver.post({}, "{}")));
  expect(answers.map(({ status }) => status)).toEqual(Array(32).fill(200));
  expect(asked.mock.calls.map(([name]) => name)).toEqual(["localhost"]);
});
