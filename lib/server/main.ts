import { loadEnvFiles } from "@/lib/config/env-files";
import { logBeforeSettings } from "@/lib/runtime/log";
import { start } from "@/lib/server/start";
import { version } from "@/package.json";

if (process.argv[2] === "--version") {
  process.stdout.write(`${version}\n`);
} else {
  loadEnvFiles((complaint) => logBeforeSettings().warn(complaint));
  await start();
}
