import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { documents } from "@/lib/docs/documents";
import { chromium } from "@/playwright.config";
import { median } from "@/tests/bench/load";
import { Service } from "@/tests/support/service";

const run = promisify(execFile);
const rounds = 3;
const groups = ["performance", "accessibility", "best-practices", "seo"] as const;

type Report = { categories: Record<(typeof groups)[number], { score: number }> };

/** Lighthouse on the public pages and every document, as on a mid-range phone: the median of each score, of 100. */
export async function measurePages(print: (line: string) => void): Promise<void> {
  const service = await Service.start({ SIGN_IN: "local" });
  for (const path of ["/", "/waitlist", "/sign-in", ...documents.map((document) => document.path)]) {
    const reports: Report[] = [];
    for (let round = 0; round < rounds; round++) reports.push(await runLighthouse(service.url + path));
    const scores = groups.map((group) => {
      const score = median(reports.map(({ categories }) => categories[group].score));
      return `${group} ${Math.round(score * 100)}`;
    });
    print(`Lighthouse ${path}: ${scores.join(", ")} (goal: 95 in each)`);
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
