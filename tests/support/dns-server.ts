import { createSocket } from "node:dgram";

/** The records of a name: TXT records, a failure, or no response. */
type Answers = string[] | "servfail" | "silent";

/** Starts a DNS server on loopback, over UDP, with TXT records only. */
export async function startDnsServer() {
  const zone = new Map<string, Answers>();
  const socket = createSocket("udp4");
  socket.on("message", (query, client) => {
    const { name, question } = readQuestion(query);
    const answers = zone.get(name);
    if (answers !== "silent") socket.send(answer(query, question, answers), client.port, client.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return { zone, address: `127.0.0.1:${socket.address().port}`, stop: () => socket.close() };
}

const headBytes = 12;

/** The name in a query, and the question section to repeat in the response: RFC 1035 §4.1.2. */
function readQuestion(query: Buffer): { name: string; question: Buffer } {
  const labels: string[] = [];
  let at = headBytes;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), question: query.subarray(headBytes, at + 5) };
}

/** RFC 1035 §4.1.1: NXDOMAIN if the name does not exist. */
function answer(query: Buffer, question: Buffer, answers: Exclude<Answers, "silent"> | undefined): Buffer {
  const code = answers === "servfail" ? 2 : answers ? 0 : 3;
  const records = Array.isArray(answers) ? answers.map(toRecord) : [];
  const head = Buffer.alloc(headBytes);
  query.copy(head, 0, 0, 2);
  head.writeUInt16BE(0x8580 | code, 2); // QR, AA, RD and RA: an authoritative response of a recursive server
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(records.length, 6);
  return Buffer.concat([head, question, ...records]);
}

/** A TXT record of the requested name, its text in parts of 255 bytes: RFC 1035 §3.3.14. */
function toRecord(text: string): Buffer {
  const parts = (text.match(/.{1,255}/g) ?? [""]).map((part) =>
    Buffer.concat([Buffer.from([part.length]), Buffer.from(part)]),
  );
  const data = Buffer.concat(parts);
  const head = Buffer.from([0xc0, headBytes, 0, 16, 0, 1, 0, 0, 0, 60, 0, 0]);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}
