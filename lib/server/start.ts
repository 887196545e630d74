import type { Server, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { createBackendApi } from "@/lib/backend/handler";
import { prepareStore } from "@/lib/background/prepared-store";
import { startBackgroundWork } from "@/lib/background/tasks";
import { type Settings, settings } from "@/lib/config/settings";
import { findToolFault, sweepDrafts, toolRemedy } from "@/lib/db/backup-copy";
import { migratedStore } from "@/lib/db/store";
import type { Call } from "@/lib/http/call";
import { loadRenderer } from "@/lib/http/render-html";
import { listRetirements } from "@/lib/http/retirement";
import { sweepMailDrafts } from "@/lib/mail/senders/file-sender";
import { createOffice } from "@/lib/office/handler";
import { derivedKeys } from "@/lib/runtime/app-secret";
import { captureOutput, logUncaught } from "@/lib/runtime/captured-output";
import { measureDisk } from "@/lib/runtime/disk";
import { log, logBeforeSettings } from "@/lib/runtime/log";
import { metrics } from "@/lib/runtime/metrics";
import { blockReadiness } from "@/lib/runtime/readiness";
import { send } from "@/lib/server/answer-writer";
import { createBoundedServer } from "@/lib/server/bounded-server";
import type { JoinedMessage } from "@/lib/server/joined-message";
import { createMetricsServer } from "@/lib/server/metrics-server";
import { createFrontServer } from "@/lib/server/server";
import { closeGracefully, stopOnSignal } from "@/lib/server/stop";

/** Starts the service, and returns once it listens. A fault in the settings, the registers or the port ends the process. */
export async function start(): Promise<void> {
  // On Vercel, this server does not run.
  delete process.env.VERCEL;
  const { production, tracing, office, backend, metricsPort, metricsHost } = orExit(settings);
  const { port, host, appUrl, drainSeconds, warnings } = settings();
  // In development, Next's output is shown as it is.
  if (production) {
    captureOutput();
    logUncaught();
  }
  orExit(prepareDataDir);
  const stops: (() => Promise<void>)[] = [];
  if (tracing) stops.push((await import("@/lib/server/otlp-tracing")).openTracing(tracing));
  const throughNext = production ? undefined : await prepareNext();
  const server = createFrontServer({ throughNext });
  stopOnSignal(server, { drainSeconds, finish: () => Promise.all(stops.map((stop) => stop())) });
  const measured = metrics();
  if (measured && metricsPort)
    await listen(createMetricsServer(measured), metricsPort, metricsHost, "METRICS_PORT");
  if (office) stops.push(await serve("the office", office, "OFFICE_PORT", createOffice(office.url)));
  if (backend)
    stops.push(await serve("the backend API", backend, "BACKEND_PORT", createBackendApi(backend.url)));
  await listen(server, port, host);
  log().info({ port, url: appUrl }, "listening");
  for (const warning of warnings) log().warn(warning);
  reportSunsets(Date.now());
  untilStoreIsPrepared()
    .then(loadRenderer)
    .then(warnOfTools)
    .then(warnOfShare)
    .catch((failure) => log().error({ err: failure }, "no page can be rendered"));
  stops.push(...startBackgroundWork());
}

/** Ends the process if the work fails. */
function orExit<T>(work: () => T): T {
  try {
    return work();
  } catch (fault) {
    return exitWithError((fault as Error).message);
  }
}

function reportSunsets(nowMs: number): void {
  for (const { what, retirement } of listRetirements()) {
    const sunsetMs = Date.parse(retirement.sunsetAt);
    metrics()?.sunset.set({ operation: what }, sunsetMs / 1000);
    if (sunsetMs <= nowMs)
      log().error({ operation: what }, "an operation is past its sunset and returns 410");
  }
}

/** Creates the files of `DATA_DIR`, so that an unusable folder stops the start and not a request; sweeps what kills left. */
function prepareDataDir(): void {
  derivedKeys("client-address:v1");
  sweepDrafts(settings().dataDir);
  sweepMailDrafts(settings().dataDir);
}

/** Development: Next handles everything in this process, with hot reload. */
async function prepareNext() {
  const { default: createNext } = await import("next");
  const app = createNext({ dev: true, dir: process.cwd() });
  await app.prepare();
  const handle = app.getRequestHandler();
  return (incoming: JoinedMessage, outgoing: ServerResponse, { client, target }: Call): Promise<void> => {
    incoming.url = target;
    incoming.headers["x-forwarded-for"] = client.address;
    return handle(incoming, outgoing);
  };
}

/** Retries until the store answers. The service runs meanwhile, but is not ready. */
async function untilStoreIsPrepared(): Promise<void> {
  const storeReady = blockReadiness("the store has not answered yet");
  for (let attempt = 0; ; attempt++) {
    try {
      await prepareStore();
      return storeReady();
    } catch (failure) {
      if (attempt === 0) log().warn({ err: failure }, "not ready: the store or its keys cannot be used");
      await sleep(1000);
    }
  }
}

/** Says what a backup of PostgreSQL lacks here, before the night in which it fails. */
async function warnOfTools(): Promise<void> {
  if (!settings().databaseUrl) return;
  const lack = await findToolFault(await migratedStore()).catch(() => undefined);
  if (lack) log().warn({ lack, remedy: toolRemedy }, "'backup' and 'restore' do not work on this machine");
}

/** Says that the embedded store is where it can be damaged. */
async function warnOfShare(): Promise<void> {
  const { databaseUrl, dataDir } = settings();
  const { share } = databaseUrl ? {} : await measureDisk(dataDir);
  if (share) log().warn({ dataDir, share }, "SQLite can lose what it has written on a share");
}

/** The error codes of a `HOST` that is not this machine's. Other errors concern the port. */
const hostFaults = new Set(["ENOTFOUND", "EAI_AGAIN", "EADDRNOTAVAIL", "EINVAL"]);

/** Serves a site on a port of its own, and returns what ends that. */
async function serve(
  what: string,
  { port, host, url }: NonNullable<Settings["office"]>,
  setting: string,
  { site, answer }: ReturnType<typeof createOffice>,
): Promise<() => Promise<void>> {
  const server = createBoundedServer(site, (call, ...exchange) => send(answer(call), ...exchange));
  await listen(server, port, host, setting);
  log().info({ port, url }, `${what} listens`);
  return () => closeGracefully(server);
}

function listen(server: Server, port: number, host: string | undefined, name = "PORT"): Promise<void> {
  return new Promise((resolve) => {
    server.once("error", ({ code = "" }: NodeJS.ErrnoException) =>
      exitWithError(
        hostFaults.has(code)
          ? `${name.replace("PORT", "HOST")}: cannot listen on ${host} (${code})`
          : `${name}: cannot listen on ${port} (${code})`,
      ),
    );
    server.listen(port, host, resolve);
  });
}

function exitWithError(fault: string): never {
  for (const line of fault.split("\n")) logBeforeSettings().fatal(line);
  process.exit(1);
}
