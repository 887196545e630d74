import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";

/** `app/` and the folders of `lib/`, in the order of the README's table. */
const [, table = ""] = readFileSync("README.md", "utf8").split("| folder | what is in it |");
const order = [...table.matchAll(/^\| `([\w-]+)\/`/gm)].map(([, folder = ""]) => folder);

/** Files that stand in no folder, and the folder whose place in the order they have. */
const single: Record<string, string> = { "per-process": "", health: "http", "site-banner": "http" };

const files = ["lib", "app"].flatMap((root) =>
  readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => `${root}/${name}`),
);

function rankOf(path: string): number {
  const [root, folder = ""] = path.split("/");
  if (root === "app") return order.indexOf("app");
  const name = folder.replace(/\.tsx?$/, "");
  return order.indexOf(single[name] ?? name);
}

/** What a file imports of ours, by its path from here: by `@/` or relative, statically, dynamically or to pass it on. */
function importsOf(file: string): string[] {
  const code = readFileSync(file, "utf8");
  return [...code.matchAll(/\b(?:from|import) ?\(?"(@\/|\.\.?\/)([^"]+)"/g)].map(
    ([, start = "", rest = ""]) => (start === "@/" ? rest : join(dirname(file), start, rest)),
  );
}

describe("imports", () => {
  it("come from every folder that the README lists, and from no other", () => {
    const folders = files
      .filter((file) => file.startsWith("lib/") && file.split("/").length > 2)
      .map((file) => file.split("/")[1]);
    expect([...new Set([...folders, "app"])].sort()).toEqual([...order].sort());
  });

  it("run one way: a folder imports only folders above it in the README's table", () => {
    const upward = files.flatMap((file) =>
      importsOf(file)
        .filter((imported) => rankOf(imported) > rankOf(file))
        .map((imported) => `${file} imports ${imported}`),
    );
    expect(upward).toEqual([]);
  });

  it("make no circle", () => {
    const imports = new Map(files.map((file) => [file.replace(/\.tsx?$/, ""), importsOf(file)]));
    const done = new Set<string>();
    const visit = (file: string, path: string[]): void => {
      expect(path, `${[...path, file].join(" → ")} is a circle`).not.toContain(file);
      if (done.has(file)) return;
      for (const imported of imports.get(file) ?? []) visit(imported, [...path, file]);
      done.add(file);
    };
    for (const file of imports.keys()) visit(file, []);
  });
});
