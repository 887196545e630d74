import { createHash } from "node:crypto";
import type { CounterStore } from "@/lib/rate-limit/counter-store";

type ScriptCall = { keys: string[]; values: unknown[] };

/** Calls of one script that are made in the same turn of the event loop, and go to the store together. */
export class ScriptBatch {
  private readonly calls: ScriptCall[] = [];
  private replies: Promise<unknown[]> | undefined;

  constructor(
    private readonly store: CounterStore,
    private readonly signal: AbortSignal,
  ) {}

  /** The script's reply. Throws what the store refused it with, or that there was no answer. */
  async call(script: string, keys: string[], values: unknown[]): Promise<unknown> {
    const at = this.calls.push({ keys, values }) - 1;
    this.replies ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => this.send(script));
    const reply = (await this.replies)[at];
    if (reply instanceof Error) throw reply;
    return reply;
  }

  /** The store is given the text of the script only when it does not know it: when it is new, or was started anew. */
  private async send(script: string): Promise<unknown[]> {
    const { name, text } = prepare(this.store.toScript(script));
    const byName = (call: ScriptCall) => toCommand("EVALSHA", name, call);
    const replies = await this.store.run(this.calls.map(byName), this.signal);
    const [first, ...others] = this.calls.filter((_, at) => isUnknown(replies[at]));
    if (!first) return replies;
    const again = [toCommand("EVAL", text, first), ...others.map(byName)];
    const repliesAgain = await this.store.run(again, this.signal);
    return replies.map((reply) => (isUnknown(reply) ? repliesAgain.shift() : reply));
  }
}

function toCommand(verb: string, script: string, { keys, values }: ScriptCall): string[] {
  return [verb, script, String(keys.length), ...keys, ...values.map(String)];
}

function isUnknown(reply: unknown): boolean {
  return reply instanceof Error && reply.message.startsWith("NOSCRIPT");
}

const prepared = new Map<string, { name: string; text: string }>();

/** A script and the name that Redis gives it. */
function prepare(text: string): { name: string; text: string } {
  const known = prepared.get(text) ?? { name: createHash("sha1").update(text).digest("hex"), text };
  prepared.set(text, known);
  return known;
}
