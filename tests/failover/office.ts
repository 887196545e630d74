import { writableAddress } from "@/lib/db/postgres/hosts";
import { startInstances } from "@/tests/fleet/instances";
import { alterDatabase, createDatabase, queryOnce } from "@/tests/support/databases";
import { makeOwners } from "@/tests/support/purchases";
import { startSentinels } from "@/tests/support/redis-servers";
import { StripeStandIn } from "@/tests/support/stripe-stand-in";
import type { Pair } from "./pair";

const ownersOfARun = 300;
const reader = "reader@example.com";

/** Three instances behind haproxy, on a pair of PostgreSQL, with counters in Redis, mail by SMTP and a fake Stripe. */
export async function openOffice(pair: Pair, runs: number, isSerializable: boolean) {
  const [stripe, redis] = await Promise.all([StripeStandIn.start(), startSentinels({})]);
  // As node-postgres reads it, which takes every sslmode for verify-full.
  const writable = async (url: string) => (await writableAddress(url)).replace(/\?.*/, "");
  const created = new URL(await createDatabase(await writable(pair.url)));
  const databaseUrl = pair.url.replace(/\/postgres$/, created.pathname);
  if (isSerializable) await alterDatabase(created.href, "default_transaction_isolation = serializable");
  const query = async (sql: string) => queryOnce(await writable(databaseUrl), sql);
  const sentinels = redis.sentinels.map(({ port }) => `127.0.0.1:${port}`).join(",");
  const { front, ...running } = await startInstances({
    ...stripe.environment,
    DATABASE_URL: databaseUrl,
    REDIS_URL: `redis+sentinel://${sentinels}/0?master=office`,
  });
  /** How many transactions the instances have repeated by now. */
  const countRepeats = async () => {
    const texts = await Promise.all(
      running.instances.map(async ({ environment }) =>
        (await fetch(`http://127.0.0.1:${environment.METRICS_PORT}/metrics`)).text(),
      ),
    );
    const counts = texts.join("\n").matchAll(/^corner_office_store_repeats_total\S* (\d+)$/gm);
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
  };
  await front.adminJson("account", "add", reader, "--plan", "licensed");
  const owners = await makeOwners({ query }, runs * ownersOfARun);
  const token = () => front.token(reader);
  return { pair, ...running, service: front, stripe, owners, query, token, countRepeats };
}

export type Office = Awaited<ReturnType<typeof openOffice>>;
