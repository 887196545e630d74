import type { Redis, Requester } from "@upstash/redis";
import type { CounterStore } from "@/lib/rate-limit/counter-store";
import { readBounded } from "@/lib/runtime/read-bounded";

const maxRequestMs = 2000; // 2 seconds: a counter's own deadline is shorter
const maxAnswerBytes = 256 * 1024; // 256 KiB: a thousand calls, two numbers or a sentence each

type Access = { url: string; token: string };

/** Upstash's Redis, over its REST API. */
export class UpstashStore implements CounterStore {
  readonly name = "Upstash";
  private readonly redis: Promise<Redis>;

  constructor(access: Access) {
    // The library's own requester would read an answer of any size.
    const requester = { request: ({ body }) => post(access, body) } as Requester;
    this.redis = import("@upstash/redis").then(({ Redis }) => {
      class PipelinedRedis extends Redis {
        readonly pipelined = this.autoPipeline();
      }
      return new PipelinedRedis(requester).pipelined;
    });
  }

  async eval(script: string, keys: string[], args: unknown[]): Promise<unknown> {
    return (await this.redis).eval(script, keys, args);
  }
}

async function post({ url, token }: Access, commands: unknown): Promise<unknown> {
  const response = await fetch(`${url.replace(/\/$/, "")}/pipeline`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify(commands),
    signal: AbortSignal.timeout(maxRequestMs),
  });
  const text = await readBounded(response.body, maxAnswerBytes);
  if (!response.ok) {
    const [, why = ""] = /^\{\s*"error"\s*:\s*"([^"\\]{1,200})/.exec(text) ?? []; // a token that is wrong, a quota that is spent
    throw new Error(`Upstash answered ${response.status}${why && `: ${why}`}`);
  }
  return JSON.parse(text);
}
