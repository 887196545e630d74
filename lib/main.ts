import module from "node:module";
import { join } from "node:path";
import { engines } from "@/package.json";

/*
 * The first file of each program: an older Node could not even load the others, which import what it lacks. It starts the
 * program next to it.
 */
const { node } = process.versions;
const needed = engines.node.replace(">=", "");
if (node.localeCompare(needed, undefined, { numeric: true }) < 0) {
  process.stderr.write(
    `This is Node ${node}, and Corner Office needs ${needed} or newer: install it, or start with npm, which brings it.\n`,
  );
  process.exit(1);
}
// The next start takes a quarter less processor time. Where the folder cannot be written, nothing is kept.
module.enableCompileCache(join(import.meta.dirname, "../compile-cache"));
await import(new URL("program.js", import.meta.url).href);
