import { type ChildProcess, execFile } from "node:child_process";
import { chownSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { findPostgres, isInstalled, postgresUser, signalPostgres } from "@/tests/support/databases";
import { createFolder, spawnLeashed } from "@/tests/support/leash";
import { reservePort } from "@/tests/support/port";
import { startTcpProxy } from "@/tests/support/tcp-proxy";
import { type Fault, fillDisk, type Pair, type Struck } from "./pair";

type Proxy = Awaited<ReturnType<typeof startTcpProxy>>;

type Node = {
  name: string;
  /** Where instances reach its PostgreSQL. */
  port: number;
  /** Where Patroni's own interface is. */
  restPort: number;
  data: string;
  file: string;
  /** Between it and the others: etcd, and the other node. Instances still reach it when these are frozen. */
  toOthers: Proxy[];
  patroni: ChildProcess;
};

/** The shortest `ttl` that Patroni allows, in seconds, and what fits it: `loop_wait` + 2 × `retry_timeout` ≤ `ttl`. */
export const timing = { ttl: 20, loop_wait: 5, retry_timeout: 5 };

const etcdFrozenForMs = 50_000; // 50 seconds
const patienceMs = 150_000; // 150 seconds
const maxLogLines = 40;

/** Whether Patroni and etcd are installed. */
export const hasPatroni = isInstalled("patroni") && isInstalled("etcd");

/** Starts etcd and two PostgreSQL under Patroni on loopback, without a watchdog. */
export async function startPatroniPair({ isSynchronous }: { isSynchronous: boolean }): Promise<Pair> {
  const { port: etcdPort, etcd } = await startEtcd();
  const first = await startNode("a", etcdPort, isSynchronous);
  await until(() => isPrimary(first));
  const nodes = [first, await startNode("b", etcdPort, isSynchronous)] as const;
  await untilWhole(nodes, isSynchronous);

  const strike = async (fault: Fault): Promise<Struck> => {
    const [primary, standby] = (await isPrimary(nodes[0])) ? nodes : [nodes[1], nodes[0]];
    if (fault === "kill") signalNode(primary, "SIGKILL");
    if (fault === "freeze" || fault === "thaw") signalNode(primary, "SIGSTOP");
    if (fault === "cut") for (const proxy of primary.toOthers) proxy.freeze();
    if (fault === "switch") {
      const command = ["switchover", "--leader", primary.name, "--candidate", standby.name, "--force"];
      await promisify(execFile)("patronictl", ["-c", standby.file, ...command]);
    }
    if (fault === "full") await fillDisk(`postgres://postgres@127.0.0.1:${primary.port}/postgres`);
    if (fault === "etcd") {
      etcd.kill("SIGSTOP");
      await sleep(etcdFrozenForMs);
      etcd.kill("SIGCONT");
    }
    const isPause = fault === "full" || fault === "etcd";
    await until(async () => (await isPrimary(standby)) || (isPause && isPrimary(primary)));
    return {
      port: isPause ? undefined : primary.port,
      async release() {
        if (fault === "freeze") signalNode(primary, "SIGKILL");
        if (fault === "thaw") signalNode(primary, "SIGCONT");
        if (fault === "cut") for (const proxy of primary.toOthers) proxy.thaw();
        if (fault === "kill" || fault === "freeze") primary.patroni = runPatroni(primary.file);
      },
      restore: () =>
        untilWhole(nodes, isSynchronous).then(
          () => true,
          (failure) => {
            if (fault !== "thaw") throw failure;
            return false;
          },
        ),
    };
  };

  return {
    name: `Patroni (ttl ${timing.ttl} s), ${isSynchronous ? "synchronous" : "asynchronous"} replication`,
    url: `postgres://postgres@${nodes.map(({ port }) => `127.0.0.1:${port}`).join(",")}/postgres`,
    isSynchronous,
    faults: ["kill", "freeze", "cut", "switch", "thaw", "etcd", "full"],
    strike,
    end() {
      for (const node of nodes) {
        // Its PostgreSQL is in a session of its own, which no leash holds.
        signalNode(node, "SIGKILL");
      }
    },
  };
}

async function startEtcd(): Promise<{ port: number; etcd: ChildProcess }> {
  const [port, peerPort] = [await reservePort(), await reservePort()];
  const [url, peerUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
  const parameters = {
    "data-dir": join(createFolder(), "etcd"),
    "listen-client-urls": url,
    "advertise-client-urls": url,
    "listen-peer-urls": peerUrl,
    "initial-advertise-peer-urls": peerUrl,
    "initial-cluster": `default=${peerUrl}`,
  };
  const flags = Object.entries(parameters).flatMap(([name, value]) => [`--${name}`, value]);
  const etcd = spawnLeashed("etcd", [...flags, "--unsafe-no-fsync"], { stdio: "ignore" });
  await until(async () => (await fetch(`${url}/health`)).ok);
  return { port, etcd };
}

async function startNode(name: string, etcdPort: number, isSynchronous: boolean): Promise<Node> {
  const folder = createFolder();
  const [port, restPort] = [await reservePort(), await reservePort()];
  const toOthers: Proxy[] = [];
  const proxyTo = async (target: number) => {
    const own = await reservePort();
    toOthers.push(await startTcpProxy(target, own));
    return `127.0.0.1:${own}`;
  };
  const data = join(folder, "data");
  const configuration = {
    scope: "office",
    name,
    restapi: { listen: `127.0.0.1:${restPort}`, connect_address: await proxyTo(restPort) },
    etcd3: { hosts: [await proxyTo(etcdPort)], use_proxies: true },
    bootstrap: {
      dcs: { ...timing, synchronous_mode: isSynchronous, postgresql: { use_pg_rewind: true } },
      initdb: [{ encoding: "UTF8" }, { auth: "trust" }],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: await proxyTo(port),
      data_dir: data,
      bin_dir: findPostgres(),
      pgpass: join(folder, "pgpass"),
      authentication: { superuser: { username: "postgres" }, replication: { username: "postgres" } },
      pg_hba: ["host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"],
      parameters: {
        // A killed process loses nothing that it wrote; only a machine would.
        fsync: "off",
        unix_socket_directories: folder,
        dynamic_shared_memory_type: "mmap",
        wal_log_hints: "on",
      },
    },
    watchdog: { mode: "off" },
  };
  const file = join(folder, "patroni.json");
  writeFileSync(file, JSON.stringify(configuration));
  const user = postgresUser();
  if (user) chownSync(folder, user.uid, user.gid);
  return { name, port, restPort, data, file, toOthers, patroni: runPatroni(file) };
}

function runPatroni(file: string): ChildProcess {
  const log = openSync(logOf({ file }), "a");
  return spawnLeashed("patroni", [file], {
    ...postgresUser(),
    cwd: dirname(file),
    stdio: ["ignore", log, log],
  });
}

function logOf({ file }: Pick<Node, "file">): string {
  return join(dirname(file), "log");
}

/** Whether Patroni says that its server is the primary. */
async function isPrimary(node: Node): Promise<boolean> {
  return (await ask(node, "primary")).ok;
}

function ask({ restPort }: Node, what: string): Promise<Response> {
  return fetch(`http://127.0.0.1:${restPort}/${what}`, { signal: AbortSignal.timeout(1000) });
}

/** Waits until one leads and the other follows it, as every node sees it. */
async function untilWhole(nodes: readonly Node[], isSynchronous: boolean): Promise<void> {
  const roles = ["leader", isSynchronous ? "sync_standby" : "replica"];
  const isWhole = async () => {
    const primaries = await Promise.all(nodes.map(isPrimary));
    const views = await Promise.all(nodes.map(async (node) => (await ask(node, "cluster")).json()));
    const isThere = (role: string) =>
      views.every(({ members }: { members: { role: string; state: string }[] }) =>
        members.some((member) => member.role === role && /running|streaming/.test(member.state)),
      );
    return primaries.filter(Boolean).length === 1 && roles.every(isThere);
  };
  await until(isWhole).catch((failure) => {
    for (const node of nodes) {
      const log = readFileSync(logOf(node), "utf8").trimEnd().split("\n");
      process.stderr.write(`Patroni ${node.name}:\n${log.slice(-maxLogLines).join("\n")}\n`);
    }
    throw failure;
  });
}

/** Waits until this is so; a failure is a no. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  const untilMs = Date.now() + patienceMs;
  while (!(await isSo().catch(() => false))) {
    if (Date.now() > untilMs) throw new Error("Patroni's pair is not what it should be");
    await sleep(100);
  }
}

function signalNode(node: Node, signal: NodeJS.Signals): void {
  // It does not move its PostgreSQL in between.
  if (signal !== "SIGCONT") node.patroni.kill(signal);
  signalPostgres(postmasterOf(node), signal);
  if (signal === "SIGCONT") node.patroni.kill(signal);
}

/** Throws if its PostgreSQL does not run. */
function postmasterOf({ data }: Node): number {
  return Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]);
}
