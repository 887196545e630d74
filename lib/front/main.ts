import { loadEnvFiles } from "@/lib/env-files";
import { start } from "@/lib/front/start";

loadEnvFiles();
await start();
