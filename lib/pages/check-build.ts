import { readdirSync, readFileSync } from "node:fs";
import { compressFiles } from "@/lib/pages/compressed-files";
import { findDrift } from "@/lib/pages/register-check";

/*
 * The last step of the build: it fails when the registers and what was built know of different addresses, and
 * compresses what was built.
 */

const routes = JSON.parse(readFileSync(".next/app-path-routes-manifest.json", "utf8"));
const drift = findDrift({ routes: Object.values(routes), files: readdirSync("public") });
if (drift.length > 0) {
  process.stderr.write(
    `${drift.join("\n")}\nThe registers are lib/api/pages.ts and lib/api/operations.ts.\n`,
  );
  process.exit(1);
}
compressFiles();
