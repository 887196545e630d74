import { start } from "@/lib/front/start";
import { loadEnvFiles } from "@/lib/settings/env-files";

loadEnvFiles();
await start();
