import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { contentSecurityPolicy } from "@/lib/pages/content-security-policy";
import { findDrift } from "@/lib/pages/register-check";

/*
 * The last step of the build. It fails when the registers and what was built know of different addresses. Next starts a page with inline scripts; those of the pages that the build has
 * made are known now, so their policy names them by hash. It goes to where `headers` of `next.config.ts`
 * went: the routes manifest, which Next and the platforms read.
 */

const pages = ".next/server/app";
const manifestFile = ".next/routes-manifest.json";
const readManifest = (name: string) => JSON.parse(readFileSync(`.next/${name}.json`, "utf8"));

const drift = findDrift({
  routes: Object.values(readManifest("app-path-routes-manifest")),
  made: Object.keys(readManifest("prerender-manifest").routes),
  files: readdirSync("public"),
});
if (drift.length > 0) {
  process.stderr.write(
    `${drift.join("\n")}\nThe registers are lib/api/pages.ts and lib/api/operations.ts.\n`,
  );
  process.exit(1);
}

type Entry = { source: string; regex: string; headers: { key: string; value: string }[] };
const manifest: { headers: Entry[] } = JSON.parse(readFileSync(manifestFile, "utf8"));
const policyFor = (files: string[]) => [
  {
    key: "Content-Security-Policy",
    value: contentSecurityPolicy([...new Set(files.flatMap(inlineScripts))]),
  },
];
const made = readdirSync(pages, { recursive: true, encoding: "utf8" }).filter((file) =>
  file.endsWith(".html"),
);
// An address that is no page shows one of those that have no address: `_not-found.html` and its like.
const hasAddress = (file: string) => !file.startsWith("_");
const everyPage = manifest.headers.find(({ headers }) =>
  headers.some(({ key }) => key === "X-Content-Type-Options"),
);
if (!everyPage) throw new Error("next.config.ts has no headers for every page");
everyPage.headers.push(...policyFor(made.filter((file) => !hasAddress(file))));
for (const file of made.filter(hasAddress)) {
  const source = `/${file.replace(/\.html$/, "")}`;
  manifest.headers.push({ source, regex: `^${source}(?:/)?$`, headers: policyFor([file]) });
}
writeFileSync(manifestFile, JSON.stringify(manifest));

/** The hashes of the inline scripts of a page, as a policy names them. */
function inlineScripts(file: string): string[] {
  const html = readFileSync(`${pages}/${file}`, "utf8");
  const scripts = [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)];
  const hash = (text: string) => createHash("sha256").update(text).digest("base64");
  return scripts.map(([, text = ""]) => `'sha256-${hash(text)}'`);
}
