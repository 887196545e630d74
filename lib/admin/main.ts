import { runCommand } from "@/lib/admin/run-command";
import { loadEnvFiles } from "@/lib/config/env-files";

// A reader such as `head` closes the pipe early: that is no error.
process.stdout.on("error", () => process.exit());
loadEnvFiles((complaint) => process.stderr.write(`${complaint}\n`));
process.exitCode = await runCommand();
// An abandoned call to a provider could otherwise keep the process alive.
process.stdout.write("", () => process.exit());
