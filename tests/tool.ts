import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

/*
 * Builds one of the tools of this folder, each with a `main.ts`, and runs it with the other arguments: `node tests/tool.ts
 * bench entitlement`.
 */

const [node = "", , tool = "", ...rest] = process.argv;
const folder = join("dist", tool);
await build({
  entryPoints: [join("tests", tool, "main.ts")],
  bundle: true,
  platform: "node",
  target: "node24",
  format: "esm",
  packages: "external",
  splitting: true,
  outdir: folder,
  logLevel: "warning",
});
const program = resolve(folder, "main.js");
process.argv = [node, program, ...rest];
await import(pathToFileURL(program).href);
