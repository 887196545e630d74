import { pages } from "@/lib/http/register/pages";
import { healthBeside, load, scriptOf } from "@/tests/bench/load";
import { judge, print } from "@/tests/bench/verdict";
import { Browser } from "@/tests/support/browser";
import { processorTimeOf } from "@/tests/support/process-accounts";
import { Service } from "@/tests/support/service";
import type { OpenStore } from "@/tests/support/stores";
import { timesDuring } from "@/tests/support/timing";

/**
 * An owner with 100 sessions opens home from 16 clients: what a page costs, health's p99 meanwhile, and how long another
 * owner waits for theirs.
 */
export async function measureOwners(engine: string, { environment, query }: OpenStore): Promise<void> {
  const settings = { TRUSTED_PROXY_HOPS: "1", RATE_LIMIT_HEALTH: "100000000" };
  const service = await Service.start({ ...settings, ...environment }, { logTo: "file" });
  const owners: Browser[] = [];
  for (const email of ["many@example.com", "other@example.com"]) {
    await service.adminJson("account", "add", email, "--plan", "licensed", "--credits", "100");
    owners.push(await Browser.signIn(service, email));
  }
  await query(sessionsOf("many@example.com", 99));
  await query("ANALYZE");
  const [many, other] = owners as [Browser, Browser];
  const url = `http://localhost:${service.port}`;
  // Without the cookie of a known browser each address has a share of its own: no page is refused.
  const headers = { Cookie: `__session=${many.cookies.get("__session")}` };
  const script = scriptOf({ path: pages.home.path, headers, addresses: 16_000_000 });
  await load(url, { seconds: 2, script });
  const openOther = async () => {
    const { text } = await other.open(pages.home.path);
    if (!text.includes("Your plan is active")) throw new Error(`another owner's home says ${text}`);
  };
  let flood = { requests: 0, failed: 0 };
  let waits: number[] = [];
  let ms = 0;
  const { ratio, figures } = await healthBeside(service.port, async () => {
    const before = processorTimeOf(service.pid);
    const flooding = load(url, { seconds: 11, script });
    waits = await timesDuring(flooding, openOther, 200);
    flood = await flooding;
    ms = (processorTimeOf(service.pid) - before) / 1000;
  });
  const what = `with 16 clients on home with 100 sessions, ${engine}`;
  judge(`health ${what}`, ratio, { most: 3 }, "×", figures);
  judge(`another owner's home ${what}, slowest of ${waits.length}`, Math.max(...waits), { most: 1000 }, "ms");
  if (flood.failed > 0) throw new Error(`${flood.failed} of ${flood.requests} pages were refused`);
  print(`${flood.requests} pages, ${(ms / flood.requests).toFixed(1)} ms each with health's part`);
  await service.stop();
}

function sessionsOf(email: string, count: number): string {
  const nowMs = Date.now();
  return `INSERT INTO local_sessions (id, account_id, expires_at_ms, kind, name, begun_at_ms)
    SELECT 'sess_many_' || i, accounts.id, ${nowMs + 3_000_000}, 'app', 'Desk ' || i, ${nowMs}
    FROM accounts, (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) SELECT i FROM n) AS numbered
    WHERE email = '${email}'`;
}
