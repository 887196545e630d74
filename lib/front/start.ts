import { createServer, type Server } from "node:http";
import createNext from "next";
import { checkRetirements, listRetirements } from "@/lib/api/retirement";
import { leadsToDocument } from "@/lib/docs/documents";
import { createFrontServer } from "@/lib/front/server";
import { startRunner } from "@/lib/onboarding/runner";
import { derivedKeys } from "@/lib/process/app-secret";
import { log } from "@/lib/process/log";
import type { Loop } from "@/lib/process/loop";
import { keyRing } from "@/lib/session/key-ring";
import { settings } from "@/lib/settings/settings";
import { startSignInRunner } from "@/lib/sign-in/sign-in-runner";
import { closeStore, store } from "@/lib/store/store";

const stopWithinMs = 10_000; // 10 seconds

/** Starts the service, and returns once it listens. A fault in the settings, the register or the port ends the process. */
export async function start(): Promise<void> {
  const { port, host, production, appUrl, warnings } = readSettings();
  prepareDataDir();
  // Next takes every Upgrade on its server for its own hot reload, which production has not: it would hang.
  const deaf = production ? { httpServer: createServer() } : {};
  const app = createNext({ dev: !production, dir: process.cwd(), ...deaf });
  const prepared = app.prepare().catch((failure: Error) => giveUp(failure.message));
  // The operations answer at once; a page waits until Next is ready.
  const server = createFrontServer({
    next: (incoming, outgoing) => prepared.then(() => app.getRequestHandler()(incoming, outgoing)),
    throughNext: !production,
  });
  await listen(server, port, host);
  log().info({ port, url: appUrl }, "listening");
  for (const warning of warnings) log().warn(warning);
  // A database that is away does not keep us from starting: whoever needs it tries again.
  prepareStore().catch((failure) => log().warn({ err: failure }, "the store cannot be reached"));
  const stop = stopper(server, [startRunner(), startSignInRunner()]);
  process.on("SIGTERM", stop).on("SIGINT", stop);
  await prepared;
}

function readSettings() {
  try {
    checkRetirements(listRetirements(), Date.now(), leadsToDocument);
    return settings();
  } catch (fault) {
    return giveUp((fault as Error).message);
  }
}

/** Makes what `DATA_DIR` keeps, so that a folder which cannot be used shows now and not at a request. */
function prepareDataDir(): void {
  try {
    derivedKeys("client-address:v1");
  } catch (fault) {
    giveUp((fault as Error).message);
  }
}

/** Opens the store, and makes or reads the keys of our sessions, so that no request waits for that. */
async function prepareStore(): Promise<void> {
  await store();
  if (settings().signIn.kind !== "none") await keyRing().signing(Date.now());
}

function listen(server: Server, port: number, host: string | undefined): Promise<void> {
  return new Promise((resolve) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      giveUp(`PORT: cannot listen on ${port} (${error.code})`),
    );
    server.listen(port, host, resolve);
  });
}

function giveUp(fault: string): never {
  process.stderr.write(`${fault}\n`);
  process.exit(1);
}

/** The first signal lets requests and mails in flight finish, the second ends at once. */
function stopper(server: Server, runners: Loop[]) {
  let isStopping = false;
  return () => {
    if (isStopping) process.exit(1);
    isStopping = true;
    const mailed = Promise.all(runners.map((runner) => runner.stop()));
    server.close(async () => {
      await mailed;
      await closeStore();
      process.exit(0);
    });
    setInterval(() => server.closeIdleConnections(), 100).unref();
    setTimeout(() => server.closeAllConnections(), stopWithinMs).unref();
  };
}
