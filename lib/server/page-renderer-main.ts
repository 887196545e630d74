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
 * The process in which Next renders pages. The server starts and stops it, and is its only client.
 */

const [, , socketPath = ""] = process.argv;
if (!process.send || !socketPath) {
  logBeforeSettings().fatal("this program is started by the server: use npm start");
  process.exit(1);
}

captureOutput();
// The API takes precedence over pages.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
// A unit manager signals every process of a service; the server decides when this one ends.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => {});
disableCreation();
process.on("disconnect", exit);
if (!process.connected) exit();
const tell = (message: RendererMessage, then = () => {}) => process.send?.(message, then);
process.on("message", () => tell({ is: "alive" }));

try {
  passConfiguration();
  // Next would take every Upgrade for its hot reload: it gets a server that does not listen.
  const app = createNext({ dev: false, dir: process.cwd(), httpServer: createServer() });
  await app.prepare();
  const server = createServer(app.getRequestHandler());
  // The server keeps its connections open.
  server.keepAliveTimeout = 0;
  server.listen(socketPath, () => tell({ is: "ready" }));
} catch (failure) {
  tell({ is: "broken", fault: (failure as Error).message }, () => process.exit(1));
}

/**
 * Passes Next the configuration that the build wrote, as its own standalone server does. To read next.config.ts, Next
 * would load its compiler and keep 30 MB.
 */
function passConfiguration(): void {
  if (!existsSync(buildFiles.serverConfiguration)) return;
  const { config } = JSON.parse(readFileSync(buildFiles.serverConfiguration, "utf8"));
  process.env[configurationVariable] = JSON.stringify(config);
}

/** Removes the socket and its folder, and ends the process. */
function exit(): never {
  rmSync(socketPath, { force: true });
  try {
    rmdirSync(dirname(socketPath));
  } catch {
    // Removed by the server already, or not empty.
  }
  process.exit();
}
