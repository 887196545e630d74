import type { CounterStore } from "@/lib/rate-limit/counter-store";

const connectWithinMs = 2000;

/** Redis or Valkey, over one connection, which is made anew at the next question after it failed. */
export class RedisStore implements CounterStore {
  readonly name = "Redis";
  private connection: Promise<Connection> | undefined;

  constructor(private readonly url: string) {
    this.connect().catch(() => {});
  }

  async run(commands: readonly string[][], signal: AbortSignal): Promise<unknown[]> {
    const connection = await orAborted(this.connect(), signal);
    const send = (command: string[]) => connection.client.sendCommand(command).catch(connection.toReply);
    return orAborted(Promise.all(commands.map(send)), signal).catch((failure) => {
      this.drop(connection);
      throw failure;
    });
  }

  /** Redis knows none of the flags that Upstash reads from the script's first line. */
  toScript(script: string): string {
    return script.replace(/^#!lua[^\n]*\n/, "");
  }

  /** A connection may take longer than a question may: the next one finds it made. */
  private connect(): Promise<Connection> {
    this.connection ??= open(this.url).catch((failure) => {
      this.connection = undefined;
      throw failure;
    });
    return this.connection;
  }

  /** What was asked on it may still be answered, so it must not serve the next question. */
  private drop({ client }: Connection): void {
    this.connection = undefined;
    if (client.isOpen) client.destroy();
  }
}

type Connection = Awaited<ReturnType<typeof open>>;

async function open(url: string) {
  // Five hundred files, which nobody should wait for who has no Redis.
  const { createClient, ErrorReply } = await import("@redis/client");
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
  return {
    client,
    /** A refusal by the store is a reply; anything else is a connection that failed. */
    toReply(failure: unknown) {
      if (failure instanceof ErrorReply) return failure;
      throw failure;
    },
  };
}

function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    promise.then(resolve, reject);
  });
}
