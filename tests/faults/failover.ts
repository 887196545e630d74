import pg from "pg";
import { besideDatabaseUrl } from "@/tests/support/databases";
import { Service } from "@/tests/support/service";
import type { Experiment } from "./experiment";

const writes = 200;

/** PostgreSQL is read-only for a while, like a standby; open connections stay read-only afterwards. */
export const failover: Experiment = {
  name: "failover",
  async run(see, world) {
    const databaseUrl = await world.createDatabase();
    const environment = { ...besideDatabaseUrl, DATABASE_URL: databaseUrl, SIGN_IN: "local" };
    const service = await Service.start(environment, { logTo: "file" });
    await service.adminJson("account", "add", "reader@example.com");
    const { url } = await service.adminJson<{ url: string }>(
      "emails",
      "unsubscribe-link",
      "reader@example.com",
    );
    const target = url.slice(service.url.length);
    const write = async () => (await service.ask(target, { method: "POST" })).status === 200;
    await write();
    const operator = new pg.Client(databaseUrl.replace(/\/[^/]+$/, "/postgres"));
    await operator.connect();
    const name = new URL(databaseUrl).pathname.slice(1);
    const endAll = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`;
    await operator.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    await operator.query(endAll);
    let done = 0;
    for (let n = 0; n < 20; n++) if (await write()) done++;
    see({ what: "20 writes while it is read-only", figure: `${done} acknowledged (0)`, holds: done === 0 });
    await operator.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
    let failed = 0;
    for (let n = 0; n < writes; n++) if (!(await write())) failed++;
    see({
      what: `${writes} writes once it is writable again`,
      figure: `${failed} failed (2 at most)`,
      holds: failed <= 2,
    });
    await operator.end();
    await service.kill();
  },
};
