import { existsSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { constants, setPriority } from "node:os";
import { dirname } from "node:path";
import createNext from "next";
import { buildFiles, configurationVariable } from "@/lib/config/next-internals";
import { captureOutput } from "@/lib/runtime/captured-output";
import { disableCreation } from "@/lib/runtime/data-dir";
import { logBeforeSettings } from "@/lib/runtime/log";
import type { RendererMessage } from "@/lib/server/page-renderer";

/*
 * The process that Next renders pages in. It is told where to listen, and answers nobody but the front server: that
 * one starts it, stops it, and has looked at every request before.
 */

const [, , socketPath = ""] = process.argv;
if (!process.send || !socketPath) {
  logBeforeSettings().fatal("this program is started by the server: use npm start");
  process.exit(1);
}

captureOutput();
// Where both want the processor, the API has it first.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
// In a terminal the signals reach both processes; it is for the front server to say when this one ends.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => {});
disableCreation();
process.on("disconnect", exit);
if (!process.connected) exit();
const tell = (message: RendererMessage, then = () => {}) => process.send?.(message, then);

try {
  handOverConfiguration();
  // Next takes every Upgrade on its server for its own hot reload, which production has not: it gets one that is deaf.
  const app = createNext({ dev: false, dir: process.cwd(), httpServer: createServer() });
  await app.prepare();
  const server = createServer(app.getRequestHandler());
  // The front server keeps its connections for good.
  server.keepAliveTimeout = 0;
  server.listen(socketPath, () => tell({ is: "ready" }));
} catch (failure) {
  tell({ is: "broken", fault: (failure as Error).message }, () => process.exit(1));
}

/**
 * Hands Next the configuration as the build has written it down, in the way of its own stand-alone server. To read
 * next.config.ts it would load its compiler: 30 MB for as long as the process stands. Where no build is, it says so.
 */
function handOverConfiguration(): void {
  if (!existsSync(buildFiles.serverConfiguration)) return;
  const { config } = JSON.parse(readFileSync(buildFiles.serverConfiguration, "utf8"));
  process.env[configurationVariable] = JSON.stringify(config);
}

/** The front server is gone, or has no use for us any more. Of files we delete the socket alone, whoever told us where. */
function exit(): never {
  rmSync(socketPath, { force: true });
  try {
    rmdirSync(dirname(socketPath));
  } catch {
    // The front server was there first, or it holds something that is not ours.
  }
  process.exit();
}
