import { randomUUID } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keepAnswers } from "@/lib/backend/kept-answers";
import { ledgerTransaction } from "@/lib/db/ledger-transaction";
import { Store } from "@/lib/db/store";
import { operations } from "@/lib/http/register/operations";
import { load } from "@/tests/bench/load";
import { judge, print } from "@/tests/bench/verdict";
import { BackendCaller, withBackendApi } from "@/tests/support/backend-caller";
import { processorTimeOf } from "@/tests/support/process-accounts";
import { Service } from "@/tests/support/service";
import type { EngineName, OpenStore } from "@/tests/support/stores";
import { median } from "@/tests/support/timing";

const rounds = 3;
const seconds = 2;
const hotPerSecond = { embedded: 2000, postgres: 300 };

/** What spends cost over HTTP: a check with one, a hot account with one client and with many, and batches. */
export async function measureCredits(engine: EngineName, { environment }: OpenStore): Promise<void> {
  const service = await Service.start(await withBackendApi(environment), { logTo: "file" });
  const worker = await BackendCaller.add(service, "worker");
  const { id, email } = await service.adminJson<{ id: string; email: string }>(
    ...["account", "add", "hot@example.com", "--plan", "licensed", "--credits", "1000000000"],
  );
  const token = await service.token(email);
  const authorization = `Bearer ${await worker.sign({ exp: Math.floor(Date.now() / 1000) + 290 })}`;
  const spend = { credits: "0.001", reason: "A page" };
  const post = (path: string, body: object) => ({ path, body: JSON.stringify(body), authorization });
  const asked = {
    entitlement: { path: operations.entitlement.path, authorization: `Bearer ${token}` },
    check: post("/v1/checks", { token, spend }),
    spend: post(`/v1/accounts/${id}/spends`, spend),
    batch: post("/v1/batches", { spends: Array.from({ length: 1000 }, () => ({ account: id, ...spend })) }),
  };
  const run = async (name: keyof typeof asked, connections: number) => {
    const port = name === "entitlement" ? service.port : worker.port;
    const before = processorTimeOf(service.pid);
    const url = `http://localhost:${port}`;
    const from = Math.floor(Math.random() * 1e9);
    const { perSecond, requests, failed } = await load(url, {
      seconds,
      connections,
      from,
      script: scriptOf(asked[name]),
    });
    if (failed > 0) throw new Error(`${failed} of ${requests} of ${name} were not 200`);
    return {
      perSecond,
      ms: 1000 / perSecond,
      cpuMs: (processorTimeOf(service.pid) - before) / requests / 1000,
    };
  };

  for (const name of ["entitlement", "check", "spend"] as const) await run(name, 16);
  const [ratios, latencies]: [number[], number[][]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const [entitlement, commit, check] = [
      await run("entitlement", 16),
      await timeCommit(service, environment),
      await run("check", 16),
    ];
    ratios.push(check.cpuMs / (2 * entitlement.cpuMs + commit.cpuMs));
    const alone = [await run("check", 1), await run("entitlement", 1)].map(({ ms }) => ms);
    latencies.push([...alone, commit.ms]);
  }
  const [check, entitlement, commit] = [0, 1, 2].map((at) =>
    median(latencies.map((row) => row[at] ?? 0)).toFixed(2),
  );
  judge(
    `a check with a spend on ${engine}, to two entitlements and a commit`,
    median(ratios),
    { most: 1 },
    "×",
    `one client waits ${check} ms for it, ${entitlement} for an entitlement, and ${commit} for a commit`,
  );
  const one = await run("spend", 1);
  const sixteen = await run("spend", 16);
  const many = await run("spend", 64);
  judge(
    `spends of one account on ${engine}, 64 clients`,
    many.perSecond,
    { least: hotPerSecond[engine] },
    "/s",
    `${Math.round(one.perSecond)} by one client, ${Math.round(sixteen.perSecond)} by 16`,
  );
  await run("batch", 1);
  const batch = await run("batch", 1);
  judge(
    `spends in batches of 1,000 on ${engine}, to those one by one, one client`,
    (batch.perSecond * 1000) / one.perSecond,
    { least: 10 },
    "×",
    `${Math.round(batch.perSecond * 1000).toLocaleString("en")} a second`,
  );
  print(`${engine}: a spend takes ${many.cpuMs.toFixed(2)} ms of the processor with 64 clients`);
  await service.stop();
}

/** What a transaction that adds one row takes of the processor here, and how long it takes, in milliseconds. */
async function timeCommit(service: Service, { DATABASE_URL: databaseUrl }: OpenStore["environment"]) {
  const store = new Store({ dataDir: service.dataDir, ...(databaseUrl && { databaseUrl }) });
  const db = await store.ready();
  const row = { backend_id: "bench", account_id: null, body_digest: "", answer: "", written_at_ms: 0 };
  const times: number[] = [];
  const before = process.cpuUsage();
  for (let time = 0; time < 200; time++) {
    const fromMs = performance.now();
    await ledgerTransaction(db, (transaction) =>
      keepAnswers(transaction, [{ ...row, key_hash: randomUUID() }]),
    );
    times.push(performance.now() - fromMs);
  }
  const { user, system } = process.cpuUsage(before);
  await store.close();
  return { ms: median(times), cpuMs: (user + system) / times.length / 1000 };
}

/** A wrk script that sends a request with a new key each time. */
function scriptOf({
  path,
  body,
  authorization,
}: {
  path: string;
  body?: string;
  authorization: string;
}): string {
  const file = join(mkdtempSync(join(tmpdir(), "bench-")), "backend.lua");
  writeFileSync(
    file,
    `local n, from = 0, 0
     function init(args) from = args[1] end
     function request()
       n = n + 1
       local headers = { Host = "localhost", Authorization = [[${authorization}]], ["Idempotency-Key"] = from .. "-" .. n }
       return wrk.format("${body ? "POST" : "GET"}", "${path}", headers, ${body ? `[[${body}]]` : "nil"})
     end`,
  );
  return file;
}
