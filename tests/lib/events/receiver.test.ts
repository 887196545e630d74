import dns from "node:dns/promises";
import { createServer as createHttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { syncBuiltinESMExports } from "node:module";
import { type AddressInfo, createServer } from "node:net";
import { expect, it, onTestFinished, vi } from "vitest";
import { parseReceiver, Receiver } from "@/lib/events/receiver";
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

const redirect = "a redirect, which is not followed: change the address";
const brokenOff = "the answer broke off";
const read = 16 * 1024;
it.each([
  ["200 OK", "2", "ok", { status: 200, answer: "ok" }],
  ["300 Choices", "2", "ok", { status: 300, answer: redirect }],
  ["399 Elsewhere", "2", "ok", { status: 399, answer: redirect }],
  ["400 Bad Request", "2", "no", { status: 400, answer: "no" }],
  ["200 OK", "10", "ok", { status: null, answer: brokenOff }],
  ["299 OK", "10", "ok", { status: null, answer: brokenOff }],
  ["300 Choices", "10", "ok", { status: 300, answer: redirect }],
  ["200 OK", "99999", "x".repeat(read), { status: null, answer: brokenOff }],
  ["200 OK", "99999", "x".repeat(read + 1), { status: 200, answer: "x".repeat(500) }],
  ["500 Ours", "4", "a\0b\n", { status: 500, answer: "ab\ufffd" }],
])("%s of which %s bytes were announced counts as what it is", async (line, length, body, said) => {
  const answer = `HTTP/1.1 ${line}\r\nContent-Length: ${length}\r\n\r\n${body}`;
  expect(await deliverTo(answer)).toMatchObject(said);
});

it.each([
  ["7", 7000],
  ["Thu, 01 Jan 1970 00:00:00 GMT", 0],
  ["soon", 0],
  ["-5", 0],
])("a receiver that asks for %s has %i ms", async (asked, retryAfterMs) => {
  const answer = `HTTP/1.1 503 Busy\r\nRetry-After: ${asked}\r\nContent-Length: 0\r\n\r\n`;
  expect(await deliverTo(answer)).toEqual({ status: 503, answer: "", retryAfterMs });
});

it.each(["http://localhost:1/", "http://127.0.0.1/", "http://[::1]/", "https://[::1]/#end"])(
  "%s may be the address of a receiver",
  (address) => {
    expect(parseReceiver(address).href).toBe(address.replace("#end", ""));
  },
);

it.each([
  ["systems.example.com", "This is no address of a receiver."],
  ["https://systems.example.com:99999/", "This is no address of a receiver."],
  ["http://example.com/", "The address of a receiver must be https, unless it is on this machine."],
  ["https://ann@example.com/", "The address has a name or a password, which lists would show."],
  ["https://:secret@example.com/", "The address has a name or a password, which lists would show."],
  ["https://192.168.0.1/", "The receiver is at 192.168.0.1, which is in no public network."],
])("%s may not", (address, message) => {
  expect(() => parseReceiver(address)).toThrow(message);
});

it("the address of a receiver has 1000 characters at most", () => {
  const filled = (characters: number) => "https://example.com/".padEnd(characters, "x");
  expect(parseReceiver(filled(1000)).href).toBe(filled(1000));
  expect(() => parseReceiver(filled(1001))).toThrow("This is no address of a receiver.");
});

it.each([
  ["http://10.0.0.1/", "10.0.0.1"],
  ["http://[fd00::1]/", "fd00::1"],
])("nothing is sent to %s, which may have been in WEBHOOK_NETWORKS when it was added", async (url, at) => {
  const receiver = new Receiver(new URL(url));
  onTestFinished(() => receiver.close());
  const answer = `The receiver is at ${at}, which is in no public network. Name its network in WEBHOOK_NETWORKS if it is yours.`;
  expect(await receiver.post({}, "{}")).toEqual({ status: null, answer, retryAfterMs: 0 });
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
