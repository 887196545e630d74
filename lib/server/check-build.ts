import { readdirSync, readFileSync } from "node:fs";
import { builtRoutesFile } from "@/lib/config/next-internals";
import { isDocumentPath } from "@/lib/docs/documents";
import { findRegisterDrift } from "@/lib/http/register-drift";
import { checkRetirements, listRetirements } from "@/lib/http/retirement";

/*
 * The last step of the build: fails if the registers and the build have different addresses, or if a retirement is not
 * valid.
 */

const builtRoutes = JSON.parse(readFileSync(builtRoutesFile, "utf8"));
const drift = findRegisterDrift({ builtRoutes: Object.values(builtRoutes), files: readdirSync("public") });
if (drift.length > 0) {
  process.stderr.write(
    `${drift.join("\n")}\nThe registers are lib/http/pages.ts and lib/http/operations.ts.\n`,
  );
  process.exit(1);
}
checkRetirements(listRetirements(), Date.now(), isDocumentPath);
