import { setTimeout as sleep } from "node:timers/promises";
import {
  eventually,
  queryOnce,
  signalPostgres,
  startPostgres,
  stopDatabase,
} from "@/tests/support/databases";
import { reservePort } from "@/tests/support/port";
import { startTcpProxy } from "@/tests/support/tcp-proxy";
import { type Fault, fillDisk, lateByMs, type Pair, type Struck } from "./pair";

type Server = NonNullable<Awaited<ReturnType<typeof startPostgres>>>;

/** How long a thawed former primary, which nothing tells that it was replaced, still takes part. */
const secondPrimaryMs = 10_000; // 10 seconds

/**
 * Starts two plain PostgreSQL on loopback, and promotes the standby right after each fault, as an operator or a script
 * would. A struck primary is thrown away after it, and a new standby made. `undefined` without PostgreSQL.
 */
export async function startPlainPair({
  isSynchronous,
}: {
  isSynchronous: boolean;
}): Promise<Pair | undefined> {
  let primary = await startPostgres();
  if (!primary) return undefined;
  let { standby, replication } = await startStandby(primary, isSynchronous);
  // Instances know two addresses, behind which servers are replaced.
  const ports = [await reservePort(), await reservePort()];
  let [own, other] = [
    { port: ports[0] as number, proxy: await startTcpProxy(portOf(primary), ports[0] as number) },
    { port: ports[1] as number, proxy: await startTcpProxy(portOf(standby), ports[1] as number) },
  ];

  const strike = async (fault: Fault): Promise<Struck> => {
    const [former, formerHost] = [primary as Server, own];
    if (fault === "full") {
      await fillDisk(former.url);
      return { port: undefined, release: async () => {}, restore: async () => true };
    }
    if (fault === "late") {
      replication.freeze();
      await sleep(lateByMs);
    }
    if (fault === "kill" || fault === "late") signalPostgres(former.child.pid, "SIGKILL");
    if (fault === "freeze" || fault === "thaw") signalPostgres(former.child.pid, "SIGSTOP");
    if (fault === "cut") formerHost.proxy.freeze();
    if (fault === "switch") await stopDatabase(former);
    await queryOnce(standby.url, "SELECT pg_promote()");
    [primary, own, other] = [standby, other, own];
    return {
      port: formerHost.port,
      async release() {
        if (fault === "thaw") signalPostgres(former.child.pid, "SIGCONT");
        if (fault === "cut") formerHost.proxy.thaw();
        if (fault === "thaw" || fault === "cut") await sleep(secondPrimaryMs);
        if (former.child.exitCode === null && former.child.signalCode === null)
          signalPostgres(former.child.pid, "SIGKILL");
      },
      async restore() {
        ({ standby, replication } = await startStandby(primary as Server, isSynchronous));
        formerHost.proxy.pointTo(portOf(standby));
        return true;
      },
    };
  };

  return {
    name: `a promotion by hand, ${isSynchronous ? "synchronous" : "asynchronous"} replication`,
    url: `postgres://postgres@127.0.0.1:${ports[0]},127.0.0.1:${ports[1]}/postgres`,
    isSynchronous,
    faults: ["kill", "freeze", "cut", "switch", "thaw", "full", ...(isSynchronous ? [] : ["late" as const])],
    strike,
    end() {
      for (const { child } of [primary as Server, standby]) signalPostgres(child.pid, "SIGKILL");
    },
  };
}

/** Starts a standby that follows the primary through a proxy. */
async function startStandby(primary: Server, isSynchronous: boolean) {
  const port = await reservePort();
  const replication = await startTcpProxy(portOf(primary), port);
  const standby = (await startPostgres(primary.url.replace(`:${portOf(primary)}/`, `:${port}/`))) as Server;
  // Set after the copy was made: a promoted standby waits for no one.
  if (isSynchronous) await queryOnce(primary.url, "ALTER SYSTEM SET synchronous_standby_names = '*'");
  await queryOnce(primary.url, "SELECT pg_reload_conf()");
  await eventually(async () => {
    const [row] = await queryOnce(primary.url, "SELECT sync_state FROM pg_stat_replication");
    if (row?.sync_state !== (isSynchronous ? "sync" : "async")) throw new Error("no standby follows");
  });
  return { standby, replication };
}

function portOf({ url }: Server): number {
  return Number(new URL(url).port);
}
