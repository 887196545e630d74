import { setTimeout as sleep } from "node:timers/promises";
import { operations } from "@/lib/http/operations";
import { Load } from "@/tests/fleet/load";
import { eventually } from "@/tests/support/databases";
import { startRedisServer } from "@/tests/support/redis-servers";
import type { Office } from "./office";

/** The columns of {@link failCountersOver}'s row. */
export const counterHead = [
  "run",
  "new master after",
  "counting after that",
  "health asked",
  "health refused",
];

const withinMs = 5000; // 5 seconds from the new master on
const { path } = operations.health;

/** Kills the Redis master under load, and tells how long counting was away and whether health was ever refused. */
export async function failCountersOver(
  { instances, redis, balancerPort, token }: Office,
  run: number,
): Promise<{ row: string[]; holds: boolean }> {
  const load = new Load(balancerPort, [path, operations.entitlement.path], await token());
  const [{ redis: sentinel } = {}] = redis.sentinels;
  const masterPort = async () => {
    const answer = await sentinel?.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "office");
    return Number((answer as string[])[1]);
  };
  await load.settle();
  const before = await masterPort();
  const killedAtMs = Date.now();
  redis.servers.find(({ port }) => port === before)?.child.kill("SIGKILL");
  while ((await masterPort()) === before) await sleep(20);
  const replacedAtMs = Date.now();
  for (let client = 1; !(await countTogether(instances, `192.0.2.${client % 250}`)); client++)
    await sleep(20);
  const countedAtMs = Date.now();
  await load.settle();
  await load.stop();
  const replica = await startRedisServer({ config: [`replicaof 127.0.0.1 ${await masterPort()}`] });
  redis.servers.push(replica);
  await eventually(async () => {
    const known = JSON.stringify(await sentinel?.call("SENTINEL", "REPLICAS", "office"));
    if (!known.includes(`127.0.0.1:${replica.port}`)) throw new Error("the Sentinels know no new replica");
  });

  const asked = load.samples.filter((sample) => sample.path === path);
  const refused = asked.filter(({ status }) => status !== 200);
  for (const { status, said } of refused) process.stderr.write(`redis ${run}: health ${status}: ${said}\n`);
  const holds = countedAtMs - replacedAtMs <= withinMs && refused.length === 0;
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  const times = [seconds(replacedAtMs - killedAtMs), seconds(countedAtMs - replacedAtMs)];
  return {
    holds,
    row: [`${holds ? "✓" : "✗"} redis`, ...times, ...[asked.length, refused.length].map(String)],
  };
}

/** Whether all instances count a client in one counter. */
async function countTogether(instances: Office["instances"], client: string): Promise<boolean> {
  const left: number[] = [];
  for (const instance of instances) {
    const { headers } = await instance.ask(path, { headers: { "x-forwarded-for": client } });
    left.push(Number(headers["ratelimit-remaining"]));
  }
  const [first = Number.NaN] = left;
  return left.every((count, n) => count === first - n);
}
