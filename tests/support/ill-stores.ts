import { cpSync, renameSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { afterAll, inject } from "vitest";
import { besideDatabaseUrl, createDatabase } from "@/tests/support/databases";
import { createFolder } from "@/tests/support/leash";
import { mountInMemory } from "@/tests/support/mount";
import { reservePort } from "@/tests/support/port";
import { limitFiles } from "@/tests/support/process-limits";
import type { Environment, Service } from "@/tests/support/service";
import { startTcpProxy } from "@/tests/support/tcp-proxy";

/** A store, what can happen to it, and how each ends. */
export type Ill = { environment: Environment; states: Record<string, [begin: Act, end: Act]> };
type Act = (service: Service) => unknown;

async function preparePostgres(): Promise<Ill> {
  const databaseUrl = await createDatabase(inject("postgresUrl") ?? "", inject("postgresTemplate"));
  const { port, pathname } = new URL(databaseUrl);
  const proxyPort = await reservePort();
  const proxy = await startTcpProxy(Number(port), proxyPort);
  const direct = new pg.Client(databaseUrl);
  await direct.connect();
  afterAll(async () => {
    await direct.end();
    await proxy.cut();
  });
  const refuseWrites = (how: "on" | "off") =>
    direct.query(
      `ALTER DATABASE ${pathname.slice(1)} SET default_transaction_read_only = ${how}; SELECT
       pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
  return {
    environment: {
      ...besideDatabaseUrl,
      DATABASE_URL: databaseUrl.replace(`:${port}/`, `:${proxyPort}/`),
    },
    states: {
      away: [proxy.cut, proxy.mend],
      frozen: [proxy.freeze, proxy.thaw],
      "read-only": [() => refuseWrites("on"), () => refuseWrites("off")],
      slow: [() => proxy.slow(1200), () => proxy.slow(0)],
    },
  };
}

async function prepareEmbedded(): Promise<Ill> {
  const mounted = mountInMemory();
  if (mounted) afterAll(mounted.remove);
  const folder = mounted?.folder ?? createFolder();
  const dataDir = join(folder, "data");
  const filler = join(folder, "filler");
  cpSync(inject("embeddedTemplate"), dataDir, { recursive: true });
  const file = join(dataDir, "store.sqlite");
  let lock: DatabaseSync;
  const move = (from: string, to: string) => {
    for (const end of ["", "-wal", "-shm"]) renameSync(`${file}${from}${end}`, `${file}${to}${end}`);
  };
  return {
    environment: { DATA_DIR: dataDir },
    states: {
      away: [() => move("", ".away"), () => move(".away", "")],
      frozen: [
        () => {
          lock = new DatabaseSync(file);
          lock.exec("BEGIN IMMEDIATE");
        },
        () => lock.close(),
      ],
      // As of a disk that its system has made read-only: a write of a file fails.
      "read-only": [({ pid }) => limitFiles(pid, "0"), ({ pid }) => limitFiles(pid, "unlimited")],
      ...(mounted && { full: [() => fill(filler), () => rmSync(filler)] }),
    },
  };
}

/** Leaves no space on the disk of a file, on which the service may write meanwhile. */
function fill(file: string): void {
  writeFileSync(file, "");
  const { bavail, bsize } = statfsSync(file);
  try {
    writeFileSync(file, Buffer.alloc(bavail * bsize));
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code !== "ENOSPC") throw failure;
  }
}

/** The stores of both engines, each with what can happen to it. */
export const illStores = [
  { name: "the embedded store", prepare: prepareEmbedded },
  ...(inject("postgresUrl") ? [{ name: "PostgreSQL", prepare: preparePostgres }] : []),
];
