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
await import(new URL("program.js", import.meta.url).href);
