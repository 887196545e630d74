import { cpSync } from "node:fs";
import { inject } from "vitest";
import { type Db, Store } from "@/lib/db/store";
import { createConflicts } from "@/tests/support/conflicts";
import { createDatabase } from "@/tests/support/databases";
import { makeFolderInMemory, type Until } from "@/tests/support/leash";
import { reservePort } from "@/tests/support/port";
import { forOthers, removeStandingBy, requireUntouched } from "@/tests/support/standing-by";
import { type OpenStore, openEmbedded, openPostgres, type Rows } from "@/tests/support/stores";
import { startTcpProxy } from "@/tests/support/tcp-proxy";

/** A fresh store of one engine, empty but for its signing key, which a test can change without the service. */
export type Stage = OpenStore & {
  /** Reads by several statements. */
  queryAll: (sql: string[]) => Promise<Rows[]>;
  /** Opens it as one more instance would, until it is cleared. */
  open: () => Promise<Db>;
  /** Makes every write of the service hang, and every read too if `freezeStopsReads` is set. */
  freeze: () => void;
  freezeStopsReads: boolean;
  thaw: () => void;
  clear: () => Promise<void>;
};

export type PrepareOptions = { isEmpty?: boolean; isAlone?: boolean; until?: Until; conflicts?: boolean };

export type Engine = {
  name: string;
  /**
   * Prepares a store in its state after a first start, or with `isEmpty` without any table. PostgreSQL undoes every
   * transaction once, so that each is run twice, unless the store is empty or reached without `conflicts`, which is several
   * times faster. Its files are deleted after the test file, or as `until` says. `isAlone` is for a test that looks at
   * everyone: no others stand by (`standing-by.ts`).
   */
  prepare: (options?: PrepareOptions) => Promise<Stage>;
};

/** The stores that a test opens of one stage. */
function openedStores(options: ConstructorParameters<typeof Store>[0]) {
  const stores: Store[] = [];
  return {
    open(): Promise<Db> {
      const store = new Store(options);
      stores.push(store);
      return store.ready();
    },
    async close(): Promise<void> {
      await Promise.all(stores.map((store) => store.close()));
    },
  };
}

const embedded: Engine = {
  name: "the embedded store",
  async prepare({ isEmpty = false, isAlone = isEmpty || inject("isAlone"), until = "file" } = {}) {
    const dataDir = makeFolderInMemory(until);
    if (!isEmpty) cpSync(inject("embeddedTemplate"), dataDir, { recursive: true });
    const { environment, query, queryAll, begin, rollBack, change } = openEmbedded(dataDir);
    const opened = openedStores({ dataDir });
    if (isAlone && !isEmpty) await removeStandingBy(query);
    return {
      environment,
      query: (sql) => query(forOthers(sql)),
      queryAll: (sql) => queryAll(sql.map(forOthers)),
      open: opened.open,
      freezeStopsReads: false,
      freeze: () => begin(),
      thaw: rollBack,
      change: (sql) => change(forOthers(sql)),
      async clear() {
        await opened.close();
        if (!isAlone) await requireUntouched(query, inject("standingBy"));
      },
    };
  },
};

const postgres = (serverUrl: string): Engine => ({
  name: "PostgreSQL",
  async prepare({ isEmpty = false, isAlone = isEmpty || inject("isAlone"), conflicts = true } = {}) {
    const databaseUrl = await createDatabase(serverUrl, isEmpty ? undefined : inject("postgresTemplate"));
    const port = await reservePort();
    // An empty one may also be for an earlier build, which repeats nothing.
    const meddle = isEmpty ? undefined : createConflicts();
    const proxy = await startTcpProxy(Number(new URL(databaseUrl).port), port, meddle);
    const behindProxy = new URL(databaseUrl);
    behindProxy.port = String(port);
    // By default each process asks for TLS, is refused, asks which host takes writes, and connects for the third time.
    behindProxy.search = "sslmode=disable";
    const { environment, query, queryAll, change, close } = openPostgres(databaseUrl, behindProxy.href);
    const opened = openedStores({ databaseUrl: conflicts ? behindProxy.href : databaseUrl, dataDir: "" });
    if (isAlone && !isEmpty) await removeStandingBy(query);
    return {
      environment,
      query: (sql) => query(forOthers(sql)),
      queryAll: (sql) => queryAll(sql.map(forOthers)),
      open: opened.open,
      freezeStopsReads: true,
      freeze: proxy.freeze,
      thaw: proxy.thaw,
      change: (sql) => change(forOthers(sql)),
      async clear() {
        await opened.close();
        try {
          if (!isAlone) await requireUntouched(query, inject("standingBy"));
        } finally {
          await close();
          await proxy.cut();
        }
      },
    };
  },
});

const postgresUrl = inject("postgresUrl");

/** Every engine that is installed here. */
export const everyEngine: Engine[] = postgresUrl ? [embedded, postgres(postgresUrl)] : [embedded];

/** Those on which this project of `vitest.config.ts` tests: in `npm test` one, and in the drills the others too. */
export const engines = everyEngine.filter((engine) => inject("engines").includes(engine.name));
