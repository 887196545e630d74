import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";

/** JSON-RPC with a program over stdio, one message per line: MCP's stdio transport. */
export class Conversation {
  private readonly waiting = new Map<number, (answer: { result?: unknown; error?: unknown }) => void>();

  constructor(private readonly program: ChildProcess) {
    if (program.stdout) {
      createInterface({ input: program.stdout }).on("line", (line) => {
        const message = JSON.parse(line);
        this.waiting.get(message.id)?.(message);
      });
    }
    program.once("close", (code) => {
      for (const tell of this.waiting.values()) tell({ error: `it ended with ${code}` });
    });
  }

  /** Sends a request, and returns the result. Throws the program's error response. */
  async ask<T>(method: string, params: object = {}): Promise<T> {
    const id = this.waiting.size + 1;
    const answered = new Promise<{ result?: unknown; error?: unknown }>((resolve) =>
      this.waiting.set(id, resolve),
    );
    this.send({ jsonrpc: "2.0", id, method, params });
    const { result, error } = await answered;
    if (error) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result as T;
  }

  tell(method: string): void {
    this.send({ jsonrpc: "2.0", method });
  }

  private send(message: object): void {
    this.program.stdin?.write(`${JSON.stringify(message)}\n`);
  }
}
