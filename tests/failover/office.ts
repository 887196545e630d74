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
export async function openOffice(pair: Pair, runs: number) {
  const [inbox, stripe, redis] = await Promise.all([
    startSmtpInbox(),
    StripeStandIn.start(),
    startSentinels({}),
  ]);
  const created = new URL(await createDatabase(await writableAddress(pair.url)));
  const databaseUrl = pair.url.replace(/\/postgres$/, created.pathname);
  const primaryUrl = () => writableAddress(databaseUrl);
  const query = async (sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> => {
    const client = new pg.Client(await primaryUrl());
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
  const start = () => Service.start(environment, { logTo: "file" });
  const instances = [await start(), await start(), await start()];
  startHaproxy(
    balancerPort,
    instances.map(({ port }) => port),
  );
  /** The service as callers reach it. */
  const front = await Service.make({ ...environment, PORT: String(balancerPort) });
  await front.adminJson("account", "add", reader, "--plan", "licensed");
  const owners = await makeOwners({ query }, runs * ownersOfARun);
  const token = () => front.token(reader);
  return { pair, instances, front, balancerPort, inbox, stripe, redis, owners, primaryUrl, query, token };
}

export type Office = Awaited<ReturnType<typeof openOffice>>;
