import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import * as z from "zod";
import type { CounterStore } from "@/lib/rate-limit/counter-store";

const maxBytesOfReply = 256; // a reply of ours is two numbers, or a sentence on what is wrong
const replies = z.array(z.union([z.object({ error: z.string() }), z.object({ result: z.unknown() })]));

/** Upstash's Redis, by its REST API: commands and replies are JSON, and go out together. */
export class UpstashStore implements CounterStore {
  readonly name = "Upstash";

  constructor(private readonly at: { url: string; token: string }) {}

  async run(commands: readonly string[][], signal: AbortSignal): Promise<unknown[]> {
    const response = await fetch(`${this.at.url.replace(/\/$/, "")}/pipeline`, {
      method: "POST",
      headers: { authorization: `Bearer ${this.at.token}` },
      body: JSON.stringify(commands),
      signal,
    });
    const text = await readBounded(response, maxBytesOfReply * (commands.length + 4));
    if (!response.ok) throw new Error(`Upstash answered ${response.status}`);
    const answered = replies.length(commands.length).parse(JSON.parse(text));
    return answered.map((reply) => ("error" in reply ? new Error(reply.error) : reply.result));
  }

  toScript(script: string): string {
    return script;
  }
}

/** The text of a response, which is broken off when it is longer than it can be. */
async function readBounded(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ? Readable.fromWeb(response.body as ReadableStream) : []) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`an answer of over ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
