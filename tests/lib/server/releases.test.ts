import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { listCommands } from "@/lib/admin/run-command";
import { settingNames } from "@/lib/config/settings";
import { version } from "@/package.json";
import { releaseBefore } from "@/tests/support/earlier-build";
import { reservePort } from "@/tests/support/port";
import { Service } from "@/tests/support/service";

const text = readFileSync("lib/server/RELEASES.md", "utf8");
/** Newest first: the release, and what is said of it. */
const releases = text
  .split(/^## (?=\d)/m)
  .slice(1)
  .map((section) => ({ name: section.split("\n", 1)[0]?.split(" ")[0] ?? "", section }));

/** What the releases together say there is: what was added and not removed since. */
function named(kind: "Settings" | "Metrics" | "Commands"): string[] {
  const there = new Set<string>();
  for (const { section } of releases.toReversed()) {
    for (const [, verb, list = ""] of section.matchAll(
      new RegExp(`^- ${kind} (added|removed): ([\\s\\S]*?)(?=\\n- |\\n\\n|$(?![\\s\\S]))`, "gm"),
    ))
      for (const [, name = ""] of list.matchAll(/`([^`]+)`/g)) {
        if (verb === "added") there.add(name);
        else there.delete(name);
      }
  }
  return [...there].sort();
}

describe("lib/server/RELEASES.md", () => {
  it("begins with this release, which the packages and the image are of", () => {
    expect(releases[0]?.name).toBe(version);
    expect(readFileSync("package-lock.json", "utf8")).toContain(
      `"name": "corner-office",\n  "version": "${version}"`,
    );
    expect(readFileSync("lib/server/Dockerfile", "utf8")).toContain(`image.version="${version}"`);
    expect(readFileSync("lib/server/kubernetes.yaml", "utf8")).toContain(`/corner-office:${version}\n`);
  });

  it("names the release before by its commit", () => {
    expect(releases[0]?.section).toContain(`- The release before: \`${releaseBefore}\``);
    const isAncestor = ["merge-base", "--is-ancestor", releaseBefore, "HEAD"];
    // 128: this copy does not have it.
    expect([0, 128]).toContain(spawnSync("git", isAncestor).status);
  });

  it("is said by the programs and as data", async () => {
    for (const program of ["server", "admin"])
      expect(execFileSync("node", [`dist/${program}/main.js`, "--version"], { encoding: "utf8" })).toBe(
        `${version}\n`,
      );
    const service = await Service.start();
    expect(JSON.parse((await service.ask("/status.json")).text)).toMatchObject({ version });
    await service.stop();
  });

  it("has every setting, and none that is gone", () => {
    const lines = readFileSync(".env.example", "utf8").matchAll(/^([A-Z_]+)=/gm);
    expect(named("Settings")).toEqual([...lines].map(([, name]) => name).sort());
    expect(settingNames).toEqual(expect.arrayContaining(named("Settings")));
  });

  it("has every metric, and none that is gone", async () => {
    const METRICS_PORT = String(await reservePort());
    const service = await Service.start({ METRICS_PORT });
    const scraped = await (await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`)).text();
    const metrics = [...scraped.matchAll(/^# HELP (corner_office_\w+)/gm)].map(([, name]) => name);
    expect(named("Metrics")).toEqual(metrics.sort());
    expect(scraped).toContain(
      `corner_office_build_info{version="${version}",node="${process.versions.node}"} 1\n`,
    );
    await service.stop();
  });

  it("has every command, and none that is gone", () => {
    const commands = listCommands().map(({ usage }) => usage.replace(/ [<[].*/, ""));
    expect(named("Commands")).toEqual(commands.sort());
  });
});
