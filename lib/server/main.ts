import { loadEnvFiles } from "@/lib/config/env-files";
import { logBeforeSettings } from "@/lib/runtime/log";
import { start } from "@/lib/server/start";

loadEnvFiles((complaint) => logBeforeSettings().warn(complaint));
await start();
