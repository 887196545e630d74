import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Clerk's own scripts as its hosts serve them. Installing them by npm would add a thousand bundled dependencies. */
const scripts = [
  {
    name: "clerk-js",
    version: "6.34.1",
    sha512: "PcM/x9lzmDU5bQ8jaJjkWYncJbAYL5hlxHG3jkO4SLG39apLqfBuFCaRw27ptIkwRCTJnY+a6Nvml3gk8G1CZA==",
  },
  {
    name: "ui",
    version: "1.34.0",
    sha512: "EP6Wcf+iqV5hJRMjfmVSOb7wWEgt2DuUOnR3Yv/ULPdmGgGWa64oc4tB4VfD66z8nXgtXqHEXNNnGURAOfQ7vQ==",
  },
] as const;

const cache = "node_modules/.cache/clerk";

/** The folder of one script's files, as published on npm. */
const folderOf = ({ name, version }: (typeof scripts)[number]) => join(cache, `${name}-${version}`);

/** The local file of a Frontend API path: `/npm/@clerk/<name>@<major>/dist/<file>`. */
export function findScript(path: string): string | undefined {
  const [, name, file] = /^\/npm\/@clerk\/([\w-]+)@[\d.]+\/dist\/([\w.-]+\.js)$/.exec(path) ?? [];
  const script = scripts.find((one) => one.name === name);
  return script && file ? join(folderOf(script), "package/dist", file) : undefined;
}

/** Fetches the scripts that are missing from npm. Throws if it cannot be reached. */
export function fetchClerkScripts(): void {
  for (const script of scripts) if (!existsSync(folderOf(script))) fetchScript(script);
}

function fetchScript(script: (typeof scripts)[number]): void {
  const { name, version, sha512 } = script;
  const folder = `${folderOf(script)}.new`;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const options = ["--pack-destination", folder, "--fetch-retries=0", "--fetch-timeout=30000", "--silent"];
  execFileSync("npm", ["pack", `@clerk/${name}@${version}`, ...options], { stdio: "pipe" });
  const archive = join(folder, `clerk-${name}-${version}.tgz`);
  const found = createHash("sha512").update(readFileSync(archive)).digest("base64");
  if (found !== sha512) throw new Error(`@clerk/${name}@${version} is not what it was`);
  execFileSync("tar", ["-xzf", archive, "-C", folder]);
  renameSync(folder, folderOf(script));
}
