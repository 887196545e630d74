import pg from "pg";
import { writableAddress } from "@/lib/db/postgres";
import { startHaproxy } from "@/tests/fleet/haproxy";
import { createDatabase } from "@/tests/support/databases";
import { reservePort } from "@/tests/support/port";
import { makeOwners } from "@/tests/support/purchases";
import { startSentinels } from "@/tests/support/redis-servers";
import { Service } from "@/tests/support/service";
import { startSmtpInbox } from "@/tests/support/smtp-inbox";
import { StripeStandIn } from "@/tests/support/stripe-stand-in";
import type { Pair } from "./pair";

const ownersOfARun = 300;
const reader = "reader@example.com";

/** Three instances behind haproxy, on a pair of PostgreSQL, with counters in Redis, mail by SMTP and a fake Stripe. */
export async function openOffice(pair: Pair, runs: number, isSerializable: boolean) {
  const [inbox, stripe, redis] = await Promise.all([
    startSmtpInbox(),
    StripeStandIn.start(),
    startSentinels({}),
  ]);
  const created = new URL(await createDatabase(await writableAddress(pair.url)));
  const databaseUrl = pair.url.replace(/\/postgres$/, created.pathname);
  if (isSerializable) {
    const client = new pg.Client(created.href);
    await client.connect();
    const name = created.pathname.slice(1);
    await client.query(`ALTER DATABASE ${name} SET default_transaction_isolation = serializable`);
    await client.end();
  }
  const query = async (sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> => {
    const client = new pg.Client(await writableAddress(databaseUrl));
    await client.connect();
    const { rows } = await client.query(sql, values);
    await client.end();
    return rows;
  };
  const balancerPort = await reservePort();
  const sentinels = redis.sentinels.map(({ port }) => `127.0.0.1:${port}`).join(",");
  const environment = {
    ...stripe.environment,
    APP_URL: `http://localhost:${balancerPort}`,
    APP_SECRET: "s".repeat(32),
    SIGN_IN: "local",
    DATABASE_URL: databaseUrl,
    REDIS_URL: `redis+sentinel://${sentinels}/0?master=office`,
    SMTP_URL: `smtp://127.0.0.1:${inbox.port}`,
    EMAIL_FROM: "office@example.com",
    TRUSTED_PROXY_HOPS: "1",
    RATE_LIMIT_HEALTH: "100000",
  };
  const metricsPorts: number[] = [];
  const start = async () => {
    const port = await reservePort();
    metricsPorts.push(port);
    return Service.start({ ...environment, METRICS_PORT: String(port) }, { logTo: "file" });
  };
  const instances = [await start(), await start(), await start()];
  /** How many transactions the instances have repeated by now. */
  const countRepeats = async () => {
    const texts = await Promise.all(
      metricsPorts.map(async (port) => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()),
    );
    const counts = texts.join("\n").matchAll(/^corner_office_store_repeats_total\S* (\d+)$/gm);
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
  };
  startHaproxy(
    balancerPort,
    instances.map(({ port }) => port),
  );
  /** The service as callers reach it. */
  const front = await Service.make({ ...environment, PORT: String(balancerPort) });
  await front.adminJson("account", "add", reader, "--plan", "licensed");
  const owners = await makeOwners({ query }, runs * ownersOfARun);
  const token = () => front.token(reader);
  return {
    pair,
    instances,
    front,
    balancerPort,
    inbox,
    stripe,
    owners,
    query,
    token,
    countRepeats,
  };
}

export type Office = Awaited<ReturnType<typeof openOffice>>;
