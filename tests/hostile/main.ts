import { attack, costBounds, heldMemory, startTarget, warmUp } from "@/tests/hostile/attack";
import { shapes } from "@/tests/hostile/shapes";
import { createStore, type EngineName, engineNames } from "@/tests/support/stores";

/*
 * Sends malicious bytes, each ten thousand times on both engines: `npm run hostile`, or those whose name contains some
 * words, `npm run hostile -- chunk`. After each the process is alive, uses or holds at most 30 MB more, and answers a health
 * check within 100 ms; after all together it also holds at most 30 MB more. Exits 1 if a requirement is not met.
 */

const requests = 10_000;
const warmUpTimes = 100;

const [wanted = ""] = process.argv.slice(2);
const chosen = shapes.filter(({ name }) => name.includes(wanted));
if (chosen.length === 0) throw new Error(`no shape is named "${wanted}"`);

let holds = true;
function see(what: string, figure: string, isFine: boolean): void {
  holds &&= isFine;
  process.stdout.write(`${isFine ? "✓" : "✗"} ${what}: ${figure}\n`);
}

for (const engine of engineNames) await attackAll(engine);
// Started programs end with this process.
process.exit(holds ? 0 : 1);

async function attackAll(engine: EngineName): Promise<void> {
  const { environment } = await createStore(engine);
  const service = await startTarget(environment);
  await warmUp(service, chosen, warmUpTimes);
  const before = await heldMemory(service);
  for (const shape of chosen) {
    const what = `${engine}: ${shape.name}`;
    try {
      const times = requests / Math.max(1, shape.answers ?? 1);
      const { megabytes, healthMs } = await attack(service, shape, times, before);
      const isFine = megabytes <= costBounds.megabytes && healthMs < costBounds.healthMs;
      see(what, `${megabytes} MB more, a health check in ${Math.round(healthMs)} ms`, isFine);
    } catch (failure) {
      see(what, (failure as Error).message, false);
      if (!service.isRunning) return;
    }
  }
  const more = (await heldMemory(service)) - before;
  see(`${engine}: all of them`, `${more} MB more`, more <= costBounds.megabytes);
  await service.stop().catch((failure: Error) => see(`${engine}: its log`, failure.message, false));
}
