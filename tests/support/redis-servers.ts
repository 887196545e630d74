import { type ChildProcess, execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { certificate, trust } from "@/tests/support/certificate";
import { eventually } from "@/tests/support/databases";
import { createFolder, spawnLeashed } from "@/tests/support/leash";
import { reservePort } from "@/tests/support/port";

/** A real redis-server on loopback, and a client of its own to look into it. */
export type RedisServer = { port: number; child: ChildProcess; redis: Redis };

type Access = { tls?: boolean; password?: string };
type Options = Access & { config?: string[]; isSentinel?: boolean };

/** Starts a redis-server. With `tls` it speaks nothing else, with the test certificate. */
export async function startRedisServer({
  tls = false,
  password,
  config = [],
  isSentinel = false,
}: Options = {}): Promise<RedisServer> {
  const port = await reservePort();
  const folder = createFolder();
  const file = join(folder, "redis.conf");
  const { key, cert } = certificate();
  writeFileSync(join(folder, "key.pem"), key);
  writeFileSync(join(folder, "cert.pem"), cert);
  const lines = [
    "bind 127.0.0.1",
    `dir ${folder}`,
    ...(tls
      ? ["port 0", `tls-port ${port}`, "tls-replication yes", "tls-auth-clients no"]
      : [`port ${port}`]),
    ...(tls ? ["tls-key-file key.pem", "tls-cert-file cert.pem", "tls-ca-cert-file cert.pem"] : []),
    ...(password ? [`requirepass "${password}"`] : []),
    ...(isSentinel ? [] : ['save ""', "repl-diskless-sync-delay 0", `masterauth "${password ?? ""}"`]),
    ...config,
  ];
  writeFileSync(file, lines.join("\n"));
  const child = spawnLeashed("redis-server", [file, ...(isSentinel ? ["--sentinel"] : [])], {
    cwd: folder,
    stdio: "ignore",
  });
  const redis = new Redis({
    host: "127.0.0.1",
    port,
    ...(password && { password }),
    ...(tls && { tls: { ca: cert } }),
    retryStrategy: () => 50,
  });
  redis.on("error", () => {});
  await redis.ping();
  return { port, child, redis };
}

/** Starts a master named `office`, its replica, and three Sentinels that replace it half a second after it is gone. */
export async function startSentinels(access: Access) {
  const master = await startRedisServer(access);
  const replica = await startRedisServer({ ...access, config: [`replicaof 127.0.0.1 ${master.port}`] });
  await eventually(async () => {
    if (!(await replica.redis.info("replication")).includes("master_link_status:up"))
      throw new Error("no link");
  });
  const config = [
    `sentinel monitor office 127.0.0.1 ${master.port} 2`,
    "sentinel down-after-milliseconds office 500",
    "sentinel failover-timeout office 1000",
    ...(access.password ? [`sentinel auth-pass office "${access.password}"`] : []),
  ];
  const sentinels = await Promise.all(
    [1, 2, 3].map(() => startRedisServer({ ...access, config, isSentinel: true })),
  );
  for (const { redis } of sentinels) {
    await eventually(async () => {
      const info = await redis.info("sentinel");
      if (!/status=ok,.*slaves=1,sentinels=3/.test(info)) throw new Error(info);
    });
  }
  return { servers: [master, replica], sentinels };
}

/** Starts a cluster of three masters. */
export async function startCluster({ tls = false, password = "" }: Access): Promise<RedisServer[]> {
  const start = async () => {
    const config = ["cluster-enabled yes", `cluster-port ${await reservePort()}`];
    return startRedisServer({ tls, password, config: [...config, ...(tls ? ["tls-cluster yes"] : [])] });
  };
  const nodes = await Promise.all([start(), start(), start()]);
  const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`);
  const access = [...(password ? ["-a", password] : []), ...(tls ? ["--tls", "--cacert", trust()] : [])];
  execFileSync("redis-cli", [...access, "--cluster", "create", ...addresses, "--cluster-yes"], {
    stdio: "ignore",
  });
  for (const { redis } of nodes) {
    await eventually(async () => {
      const info = await redis.cluster("INFO");
      if (!info.includes("cluster_state:ok")) throw new Error(info);
    });
  }
  return nodes;
}
