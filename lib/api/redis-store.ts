import { createClient, ErrorReply } from "@redis/client";
import type { CounterStore } from "@/lib/api/counter-store";

const connectWithinMs = 2000;

/** Redis or Valkey, over one connection, which is made anew at the next question after it failed. */
export class RedisStore implements CounterStore {
  readonly name = "Redis";
  private connection: Promise<Client> | undefined;

  constructor(private readonly url: string) {
    this.connect().catch(() => {});
  }

  async run(commands: readonly string[][], signal: AbortSignal): Promise<unknown[]> {
    const client = await orAborted(this.connect(), signal);
    const send = (command: string[]) => client.sendCommand(command).catch(toReply);
    return orAborted(Promise.all(commands.map(send)), signal).catch((failure) => {
      this.drop(client);
      throw failure;
    });
  }

  /** Redis knows none of the flags that Upstash reads from the script's first line. */
  toScript(script: string): string {
    return script.replace(/^#!lua[^\n]*\n/, "");
  }

  /** A connection may take longer than a question may: the next one finds it made. */
  private connect(): Promise<Client> {
    this.connection ??= openClient(this.url).catch((failure) => {
      this.connection = undefined;
      throw failure;
    });
    return this.connection;
  }

  /** What was asked on it may still be answered, so it must not serve the next question. */
  private drop(client: Client): void {
    this.connection = undefined;
    if (client.isOpen) client.destroy();
  }
}

type Client = Awaited<ReturnType<typeof openClient>>;

async function openClient(url: string) {
  const client = createClient({
    url,
    RESP: 2,
    disableOfflineQueue: true,
    maintNotifications: "disabled",
    disableClientInfo: true,
    commandOptions: {},
    socket: { connectTimeout: connectWithinMs, reconnectStrategy: false },
  });
  // Whoever asks next is told; without a listener it would end the process.
  client.on("error", () => {});
  await client.connect();
  return client;
}

/** A refusal by the store is a reply; anything else is a connection that failed. */
function toReply(failure: unknown): ErrorReply {
  if (failure instanceof ErrorReply) return failure;
  throw failure;
}

function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    promise.then(resolve, reject);
  });
}
