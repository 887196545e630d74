import { chownSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually, isInstalled, postgresUser, queryOnce } from "@/tests/support/databases";
import { createFolder, spawnLeashed } from "@/tests/support/leash";
import { reservePort } from "@/tests/support/port";

/** Whether the tests behind a pooler run. */
export const hasPgBouncer = isInstalled("pgbouncer");
if (process.env.CI && !hasPgBouncer)
  throw new Error("PgBouncer is not installed, and under CI nothing is left out");

/**
 * Starts a PgBouncer on loopback, in transaction mode like managed ones: each transaction may use another of the
 * `poolSize` server connections. It refuses startup parameters, as PgBouncer does by default.
 *
 * @returns the database's URL through it
 */
export async function startPgBouncer(
  databaseUrl: string,
  { poolSize = 5, dropsSettings = false } = {},
): Promise<string> {
  const folder = createFolder();
  const port = await reservePort();
  const { port: serverPort, pathname } = new URL(databaseUrl);
  const database = pathname.slice(1);
  const file = join(folder, "pgbouncer.ini");
  writeFileSync(
    file,
    `[databases]
${database} = host=127.0.0.1 port=${serverPort} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${poolSize}
max_client_conn = 500
server_login_retry = 1
${dropsSettings ? "ignore_startup_parameters = lock_timeout, statement_timeout, idle_in_transaction_session_timeout" : ""}
`,
  );
  // It refuses to run as root.
  const user = postgresUser();
  if (user) for (const path of [folder, file]) chownSync(path, user.uid, user.gid);
  spawnLeashed("pgbouncer", ["-q", file], { ...user, cwd: folder, stdio: "ignore" });
  const url = new URL(databaseUrl);
  url.port = String(port);
  await eventually(() => queryOnce(url.href, "SELECT 1"));
  return url.href;
}
