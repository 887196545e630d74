import nextEnv from "@next/env";
import { start } from "@/lib/front/start";

nextEnv.loadEnvConfig(process.cwd(), process.env.NODE_ENV !== "production", { info() {}, error: console.error });
await start();
