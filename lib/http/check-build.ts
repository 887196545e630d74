import { readdirSync, readFileSync } from "node:fs";
import { buildFiles } from "@/lib/config/next-internals";
import { compressFiles } from "@/lib/http/compressed-files";
import { findRegisterDrift } from "@/lib/http/register-drift";

/*
 * The last step of the build: fails if the registers and the build have different addresses, then compresses static
 * files.
 */

const builtRoutes = JSON.parse(readFileSync(buildFiles.routes, "utf8"));
const drift = findRegisterDrift({ builtRoutes: Object.values(builtRoutes), files: readdirSync("public") });
if (drift.length > 0) {
  process.stderr.write(
    `${drift.join("\n")}\nThe registers are lib/http/pages.ts and lib/http/operations.ts.\n`,
  );
  process.exit(1);
}
compressFiles();
