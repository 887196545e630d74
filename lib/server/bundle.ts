import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type BuildOptions, build } from "esbuild";

/*
 * What is built from what, but for Next's part: `npm run bundle`, or `npm run bundle:programs` for the programs alone. Node
 * runs this file as it is.
 */

const ofNode: BuildOptions = {
  bundle: true,
  platform: "node",
  target: "node24",
  format: "esm",
  // Found in node_modules when they are needed: large, loaded late, or not there at all (pg-native).
  external: ["next", "oidc-provider", "stripe", "@simplewebauthn/server", "pg-native"],
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
  outdir: "dist",
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 160,
  sourcemap: true,
  sourcesContent: false,
  logLevel: "warning",
};
const ofBrowsers: BuildOptions = { bundle: true, minify: true, logLevel: "warning" };
/** The last versions for Windows 8, iPhone X and macOS 11: Safari needs prefixes, and all of them lack nesting. */
const oldBrowsers = ["chrome109", "firefox115", "ios16", "safari16"];
const styles: BuildOptions = { ...ofBrowsers, external: ["*.woff2"], target: oldBrowsers };
const scripts: BuildOptions = { ...ofBrowsers, target: "es2022" };

async function buildPrograms(): Promise<void> {
  for (const folder of ["chunks", "compile-cache"])
    rmSync(join("dist", folder), { recursive: true, force: true });
  const starter = "lib/main.ts";
  await build({
    ...ofNode,
    entryPoints: { "server/main": starter, "demo/main": starter, "admin/main": starter },
  });
  await build({
    ...ofNode,
    entryPoints: {
      "server/program": "lib/server/main.ts",
      "demo/program": "lib/demo/main.ts",
      "admin/program": "lib/admin/main.ts",
      "server/check-build": "lib/server/check-build.ts",
      "config/write-theme": "lib/config/write-theme.ts",
    },
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
  });
}

async function buildStyles(): Promise<void> {
  await import(pathToFileURL("dist/config/write-theme.js").href);
  const pages = {
    pages: "app/(pages)/style/pages.css",
    home: "app/(pages)/style/home.css",
    documents: "app/(pages)/docs/documents.css",
  };
  await build({ ...styles, entryPoints: pages, outdir: "public" });
  await build({ ...styles, entryPoints: { office: "lib/office/style/office.css" }, outdir: "dist/office" });
  cpSync("LICENSE", "public/licence.txt");
}

async function buildScripts(): Promise<void> {
  const pages = {
    documents: "app/(pages)/docs/browser.ts",
    pages: "app/(pages)/browser.ts",
    home: "app/(pages)/home/browser.ts",
    clerk: "app/(pages)/browser/clerk.ts",
  };
  await build({ ...scripts, entryPoints: pages, outdir: "public" });
  await build({ ...scripts, entryPoints: { office: "lib/office/browser/office.ts" }, outdir: "dist/office" });
}

await buildPrograms();
if (process.argv[2] !== "programs") {
  await buildStyles();
  await buildScripts();
}
