import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isInstalled } from "@/tests/support/databases";
import { createFolder } from "@/tests/support/leash";

/** Runs Prometheus' own tool, which fails on an error. */
const promtool = (...parameters: string[]) => execFileSync("promtool", parameters, { encoding: "utf8" });

describe.runIf(isInstalled("promtool"))("the alerts and the dashboard", () => {
  it("alert on these conditions and nothing else", { timeout: 300_000 }, () => {
    expect(promtool("check", "rules", "lib/server/watching/alerts.yml")).toContain("16 rules found");
    expect(promtool("test", "rules", "tests/lib/server/alerts-fire.yml")).toContain("SUCCESS");
  });

  it("use queries that Prometheus understands", () => {
    const dashboard = readFileSync("lib/server/watching/grafana-dashboard.json", "utf8");
    const asked = [...dashboard.matchAll(/"expr": ("(?:[^"\\]|\\.)*")/g)].map(([, text = ""]) =>
      String(JSON.parse(text)).replaceAll("$__rate_interval", "5m"),
    );
    expect(asked.length).toBeGreaterThan(10);
    const rules = asked.map((expr, n) => ({ record: `panel_${n}`, expr }));
    const file = join(createFolder(), "panels.yml"); // JSON is YAML
    writeFileSync(file, JSON.stringify({ groups: [{ name: "panels", rules }] }));
    expect(promtool("check", "rules", file)).toContain(`${asked.length} rules found`);
  });
});
