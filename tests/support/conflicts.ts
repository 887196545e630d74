/*
 * Between a client and PostgreSQL, at the level of its messages
 * (https://www.postgresql.org/docs/15/protocol-message-formats.html).
 */

/** Both directions of one connection. */
export type Meddler = { toServer: (bytes: Buffer) => Buffer; toClient: (bytes: Buffer) => Buffer };

/** The messages that are whole by now; `rest` keeps the others. The first message of a client, without TLS, has no type. */
function createReader(hasType: boolean) {
  let rest = Buffer.alloc(0);
  let isTyped = hasType;
  return function* read(bytes: Buffer): Generator<Buffer> {
    rest = Buffer.concat([rest, bytes]);
    for (;;) {
      const lengthAt = isTyped ? 1 : 0;
      if (rest.length < lengthAt + 4) return;
      const end = lengthAt + rest.readInt32BE(lengthAt);
      if (rest.length < end) return;
      yield rest.subarray(0, end);
      rest = rest.subarray(end);
      isTyped = true;
    }
  };
}

export function toMessage(type: string, body: string): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(4 + Buffer.byteLength(body), 1);
  return Buffer.concat([head, Buffer.from(body)]);
}

const conflict = toMessage(
  "E",
  "SERROR\0VERROR\0C40001\0Mcould not serialize access (a test says so, to see it repeated)\0\0",
);

/**
 * Rolls back the first COMMIT of every transaction and says 40001, as a busy database may: each is run twice. Two are the
 * same if they have the same statements.
 */
export function createConflicts(): () => Meddler {
  const undone = new Set<string>();
  return () => {
    const [ofClient, ofServer] = [createReader(false), createReader(true)];
    let statements: string[] | undefined;
    let isUndoing = false;
    const undo = (): boolean => {
      const transaction = statements?.join("; ");
      statements = undefined;
      if (transaction === undefined || undone.delete(transaction)) return false;
      undone.add(transaction);
      isUndoing = true;
      return true;
    };
    return {
      toServer: (bytes) =>
        Buffer.concat(
          [...ofClient(bytes)].map((message) => {
            const type = String.fromCharCode(message[0] ?? 0);
            const text = message.toString("latin1", 5);
            const [first = "", second = ""] = text.split("\0", 2);
            // A named statement is parsed once a connection, and bound each time.
            if (type === "P" && first === "") statements?.push(second);
            if (type === "B" && second !== "") statements?.push(second);
            if (type !== "Q") return message;
            if (text === "begin\0") statements = [];
            else if (text === "rollback\0") statements = undefined;
            else if (text === "commit\0" && undo()) return toMessage("Q", "rollback\0");
            return message;
          }),
        ),
      toClient: (bytes) =>
        Buffer.concat(
          [...ofServer(bytes)].flatMap((message) => {
            if (!isUndoing) return [message];
            if (message[0] !== "Z".charCodeAt(0)) return [];
            isUndoing = false;
            return [conflict, message];
          }),
        ),
    };
  };
}
