import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { type Page, pages } from "@/lib/api/pages";
import { chromium } from "@/playwright.config";
import { median } from "@/tests/bench/load";
import { print } from "@/tests/bench/verdict";
import { Service } from "@/tests/support/service";

const run = promisify(execFile);
const rounds = 3;
const leastPerformance = 98;
const mostLcpMs = 1200;
const groups = ["performance", "accessibility", "best-practices", "seo"] as const;

type Report = {
  categories: Record<(typeof groups)[number], { score: number }>;
  audits: { "largest-contentful-paint": { numericValue: number } };
};

/** Lighthouse on every page that a crawler reads and no framework draws, as on a mid-range phone: medians of three. */
export async function measurePages(): Promise<void> {
  const service = await Service.start({ SIGN_IN: "local" });
  const drawnHere = Object.values<Page>(pages).filter(
    ({ isCrawled, loads }) => isCrawled && !loads.includes("framework"),
  );
  for (const { path } of drawnHere) {
    const reports: Report[] = [];
    for (let round = 0; round < rounds; round++) reports.push(await runLighthouse(service.url + path));
    const [performance = 0, ...others] = groups.map((group) =>
      Math.round(100 * median(reports.map(({ categories }) => categories[group].score))),
    );
    const lcpMs = median(reports.map(({ audits }) => audits["largest-contentful-paint"].numericValue));
    const isReached =
      performance >= leastPerformance && others.every((score) => score === 100) && lcpMs < mostLcpMs;
    const figures = `performance ${performance} (wanted: ${leastPerformance} at least), LCP ${Math.round(lcpMs)} ms`;
    const beside = groups.slice(1).map((group, at) => `${group} ${others[at]}`);
    print(
      `${isReached ? "✓" : "✗"} Lighthouse ${path}: ${figures} (wanted: under ${mostLcpMs}), ${beside.join(", ")}`,
    );
  }
  await service.stop();
}

/** By `npx`, because it is 200 MB for a figure that is looked at now and then. */
async function runLighthouse(url: string): Promise<Report> {
  const program = ["-y", "-p", "lighthouse@12.8.2", "lighthouse", url];
  const flags = ["--quiet", "--output=json", `--chrome-flags=--headless=new ${chromium.args.join(" ")}`];
  const env = { ...process.env, CHROME_PATH: chromium.executablePath };
  const { stdout } = await run("npx", [...program, ...flags], { env, maxBuffer: 1e8 });
  return JSON.parse(stdout);
}
