import { runCommand } from "@/lib/admin/program";
import { loadEnvFiles } from "@/lib/config/env-files";

// Whoever reads only the beginning, as `head` does, has what it wants.
process.stdout.on("error", () => process.exit());
loadEnvFiles((complaint) => process.stderr.write(`${complaint}\n`));
process.exitCode = await runCommand();
// A call to a provider that was given up may still hang, and would keep the process from ending.
process.stdout.write("", () => process.exit());
