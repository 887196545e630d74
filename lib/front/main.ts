import { start } from "@/lib/front/start";
import { logBeforeSettings } from "@/lib/process/log";
import { loadEnvFiles } from "@/lib/settings/env-files";

loadEnvFiles((complaint) => logBeforeSettings().warn(complaint));
await start();
