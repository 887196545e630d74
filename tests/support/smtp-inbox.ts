import { type AddressInfo, createServer } from "node:net";
import { createInterface } from "node:readline";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";

/** How the inbox handles a mail. `lost` accepts it and drops the connection before it responds. */
export type Fault = "none" | "no such recipient" | "busy" | "closing" | "sender refused" | "silent" | "lost";

export type Received = { atMs: number; from: string; to: string; raw: Buffer; secure: boolean; helo: string };

/** A real SMTP server on loopback, which stores accepted mails and has faults that a test can set. */
export async function startSmtpInbox(options: SMTPServerOptions = {}) {
  const inbox = { port: 0, fault: "none" as Fault, received: [] as Received[], stop: async () => {} };
  const refuse = (code: number, words: string) => Object.assign(new Error(words), { responseCode: code });

  const server = new SMTPServer({
    authOptional: true,
    closeTimeout: 100,
    lenientAddressParsing: true, // takes odd dots in quotes, as RFC 5321 §4.1.2 does
    disabledCommands: options.key ? [] : ["STARTTLS"],
    onMailFrom(_, __, callback) {
      if (inbox.fault === "closing") return callback(refuse(421, "4.3.2 closing"));
      callback(inbox.fault === "sender refused" ? refuse(550, "5.7.1 not from here") : null);
    },
    onRcptTo({ address }, _, callback) {
      callback(inbox.fault === "no such recipient" ? refuse(550, `5.1.1 no ${address} here`) : null);
    },
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        if (inbox.fault === "silent") return;
        if (inbox.fault === "busy") return callback(refuse(451, "4.3.2 later"));
        const { mailFrom, rcptTo } = session.envelope;
        inbox.received.push({
          atMs: Date.now(),
          from: mailFrom ? mailFrom.address : "",
          to: rcptTo.map(({ address }) => address).join(", "),
          raw: Buffer.concat(chunks),
          secure: session.secure,
          helo: session.hostNameAppearsAs,
        });
        if (inbox.fault === "lost") for (const { _socket } of connections()) _socket.destroy();
        else callback(null);
      });
    },
    ...options,
  });
  const connections = () =>
    (server as unknown as { connections: Set<{ _socket: { destroy: () => void } }> }).connections;
  // Aborted connections are part of the tests.
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  inbox.port = (server.server.address() as AddressInfo).port;
  inbox.stop = () => new Promise((resolve) => server.close(() => resolve()));
  return inbox;
}

/**
 * A relay on loopback that refuses: `replies` has what it says to a command, `""` is its greeting and `"."` the end of a mail.
 * With 421 it closes the connection.
 */
export async function startRelay(replies: Record<string, string>) {
  const relay = { port: 0, connections: 0, stop: () => {} };
  const server = createServer((socket) => {
    relay.connections++;
    const say = (command: string, usual: string) => {
      const reply = replies[command] ?? usual;
      socket.write(`${reply}\r\n`);
      if (reply.startsWith("421")) socket.end();
    };
    say("", "220 relay.example.net");
    let isMail = false;
    const lines = createInterface(socket);
    lines.on("line", (line) => {
      const command = isMail ? line : (line.split(" ")[0] ?? "");
      if (isMail && line !== ".") return;
      say(command, command === "DATA" ? "354 go on" : "250 fine");
      isMail = command === "DATA" && !replies.DATA;
    });
    // Lines repeat an error of what they read.
    for (const one of [socket, lines]) one.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  relay.port = (server.address() as AddressInfo).port;
  relay.stop = () => server.close();
  return relay;
}

/** The sign-in code of a mail. */
export const codeIn = ({ raw }: Pick<Received, "raw">): string | undefined =>
  /^Subject: (\d{6}) is your/m.exec(String(raw))?.[1];

/** The link of a mail that stops the later ones. */
export const unsubscribeUrlIn = ({ raw }: Pick<Received, "raw">): string | undefined =>
  /^List-Unsubscribe:\s*<([^>]+)>/im.exec(String(raw))?.[1];

export const messageIdOf = ({ raw }: Pick<Received, "raw">): string | undefined =>
  /^Message-ID: (.*)$/im.exec(String(raw))?.[1];
