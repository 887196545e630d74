import type { RedisAddress } from "@/lib/config/redis-address";
import type { CounterStore } from "@/lib/rate-limit/counter-store";
import { exportsOf } from "@/lib/runtime/load-library";
import { withTimeout } from "@/lib/runtime/timeout";

const openWithinMs = 2000; // 2 seconds, handshake and discovery included
const connectWithinMs = 500; // one server of several

/** Redis or Valkey: one server, its Sentinels or a cluster. After a failure the next call connects anew. */
export class RedisStore implements CounterStore {
  readonly name = "Redis";
  private client: Client | undefined;
  private opening: Promise<Client> | undefined;

  constructor(private readonly address: RedisAddress) {
    this.connect().catch(() => {});
  }

  /** Any refusal ends the connection: READONLY and the like say that it leads to a server that no longer counts. */
  async eval(script: string, keys: string[], args: unknown[]): Promise<unknown> {
    const client = this.client ?? (await this.connect());
    try {
      return await client.eval(script, { keys, arguments: args.map(String) });
    } catch (failure) {
      if (client === this.client) this.drop();
      throw failure;
    }
  }

  drop(): void {
    if (this.client) void end(this.client);
    this.client = undefined;
  }

  /** Opening may take longer than a call: a later one finds it done. */
  private connect(): Promise<Client> {
    this.opening ??= this.open().finally(() => {
      this.opening = undefined;
    });
    return this.opening;
  }

  private async open(): Promise<Client> {
    // Five hundred files, which a service without Redis does not load.
    const client = newClient(exportsOf(await import("@redis/client")), this.address);
    // The next call is told; without a listener it would end the process.
    client.on("error", () => {});
    try {
      await withTimeout(openWithinMs, client.connect());
      this.client = client;
      return client;
    } catch (failure) {
      void end(client);
      throw failure;
    }
  }
}

/** The common part of the three kinds of client of `@redis/client`. */
type Client = {
  on(event: "error", listener: () => void): unknown;
  connect(): Promise<unknown>;
  eval(script: string, input: { keys: string[]; arguments: string[] }): Promise<unknown>;
  destroy(): unknown;
};

async function end(client: Client): Promise<void> {
  try {
    await client.destroy();
  } catch {}
}

function newClient(redis: typeof import("@redis/client"), address: RedisAddress): Client {
  const { kind, hosts, tls, isVerified, credentials, database, master, sentinelCredentials } = address;
  const common = { RESP: 2, commandOptions: {} } as const;
  const quiet = {
    disableOfflineQueue: true,
    maintNotifications: "disabled",
    disableClientInfo: true,
  } as const;
  const encrypted = tls && { tls, rejectUnauthorized: isVerified };
  const socket = { ...encrypted, connectTimeout: connectWithinMs, reconnectStrategy: false } as const;
  const node = { ...quiet, ...credentials, socket };
  // The two clients of several servers close a socket whose handshake is not answered only by its own timeout.
  const limited = { ...socket, socketTimeout: openWithinMs };
  if (kind === "cluster") {
    const rootNodes = hosts.map((host) => ({ ...node, socket: { ...limited, ...host } }));
    return redis.createCluster({ ...common, rootNodes, defaults: node });
  }
  if (kind === "sentinel") {
    // A Sentinel that hangs uses up an attempt, and another may be the first of the next.
    const start = Math.floor(Math.random() * hosts.length);
    const pinged = { ...quiet, socket: limited, pingInterval: openWithinMs / 2 };
    return redis.createSentinel({
      ...common,
      name: master,
      sentinelRootNodes: [...hosts.slice(start), ...hosts.slice(0, start)],
      sentinelClientOptions: { ...pinged, ...sentinelCredentials },
      nodeClientOptions: { ...pinged, ...credentials, database },
      maxCommandRediscovers: 0,
      reserveClient: true, // otherwise commands go one by one
    });
  }
  return redis.createClient({ ...common, ...node, database, socket: { ...socket, ...hosts[0] } });
}
