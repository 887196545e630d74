import { execFileSync } from "node:child_process";
import { openSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { createDatabase, isInstalled, startPostgres, startRedis } from "@/tests/support/databases";
import { createFolder, spawnLeashed } from "@/tests/support/leash";
import { reservePort } from "@/tests/support/port";
import { limitFiles } from "@/tests/support/process-limits";
import { startRedisBridge } from "@/tests/support/redis-bridge";
import { Service } from "@/tests/support/service";
import { startSmtpInbox } from "@/tests/support/smtp-inbox";
import {
  type EngineName,
  type OpenStore,
  openEmbedded,
  openPostgres,
  setReadOnly,
} from "@/tests/support/stores";
import { startTcpProxy } from "@/tests/support/tcp-proxy";

/** A store whose service can be kept from writing, or cut off. */
type Store = OpenStore & {
  hold: () => void;
  release: () => void;
  /** As a disk that is full, or that its system has made read-only, does to the service of this process. */
  refuseWrites: (pid: number) => unknown;
  acceptWrites: (pid: number) => unknown;
  cut: () => Promise<void>;
  mend: () => Promise<void>;
  /** Megabytes of the store and of its write-ahead log. */
  sizes: () => Promise<{ store: number; log: number }>;
  connections: () => Promise<number>;
};

export type World = Awaited<ReturnType<typeof openWorld>>;

/** The service on this engine, with counters in Redis where it is installed, mail by SMTP, and a reader of its log. */
export async function openWorld(engine: EngineName) {
  const store = engine === "embedded" ? openFile() : await openServer();
  const inbox = await startSmtpInbox();
  const redis = isInstalled("redis-server") ? await startRedis() : undefined;
  const bridge = redis && (await startRedisBridge(redis.port));
  const [port, inspectorPort] = [await reservePort(), await reservePort()];
  const folder = createFolder();
  const [pipe, logFile] = [join(folder, "pipe"), join(folder, "log")];
  execFileSync("mkfifo", [pipe]);
  const logTo = openSync(pipe, "r+");
  const logReader = spawnLeashed("sh", ["-c", 'exec cat < "$0" > "$1"', pipe, logFile], { stdio: "ignore" });
  const service = await Service.start(
    {
      ...bridge?.environment,
      ...store.environment,
      PORT: String(port),
      NODE_OPTIONS: `--inspect-port=${inspectorPort}`,
      APP_URL: `http://localhost:${port}`,
      APP_SECRET: "s".repeat(43),
      SIGN_IN: "local",
      SMTP_URL: `smtp://127.0.0.1:${inbox.port}`,
      EMAIL_FROM: "office@example.com",
      TRUSTED_PROXY_HOPS: "1",
    },
    { logTo },
  );
  const { query } = store;
  return { service, inspectorPort, store, query, inbox, bridge, logReader, logFile };
}

const megabytes = (bytes: number) => bytes / 1024 / 1024;

function openFile(): Store {
  const dataDir = createFolder();
  const { begin, rollBack, ...store } = openEmbedded(dataDir);
  const sizeOf = (name: string) =>
    readdirSync(dataDir).includes(name) ? megabytes(statSync(join(dataDir, name)).size) : 0;
  return {
    ...store,
    hold: () => begin(),
    release: rollBack,
    refuseWrites: (pid) => limitFiles(pid, "0"),
    acceptWrites: (pid) => limitFiles(pid, "unlimited"),
    // No one can cut off a file: a reader stays instead, which keeps the write-ahead log from being emptied.
    cut: async () => begin("BEGIN; SELECT count(*) FROM accounts"),
    mend: async () => rollBack(),
    sizes: async () => ({ store: sizeOf("store.sqlite"), log: sizeOf("store.sqlite-wal") }),
    connections: async () => 0,
  };
}

async function openServer(): Promise<Store> {
  const postgres = await startPostgres(undefined, ["autovacuum=on", "autovacuum_naptime=15s"]);
  if (!postgres) throw new Error("PostgreSQL is not installed");
  const url = new URL(await createDatabase(postgres.url));
  const proxied = new URL(url);
  proxied.port = String(await reservePort());
  const proxy = await startTcpProxy(Number(url.port), Number(proxied.port));
  const { environment, query, change } = openPostgres(url.href, proxied.href);
  const read = async (sql: string) => Number(Object.values((await query(sql))[0] ?? {})[0]);
  return {
    environment,
    query,
    change,
    hold: proxy.freeze,
    release: proxy.thaw,
    refuseWrites: () => setReadOnly(query, true),
    acceptWrites: () => setReadOnly(query, false),
    cut: proxy.cut,
    mend: proxy.mend,
    sizes: async () => ({
      store: megabytes(await read("SELECT pg_database_size(current_database())")),
      log: megabytes(await read("SELECT sum(size) FROM pg_ls_waldir()")),
    }),
    connections: async () =>
      (await read("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")) - 1,
  };
}
