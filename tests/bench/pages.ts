import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { documents } from "@/lib/docs/documents";
import { chromium } from "@/playwright.config";
import { Service } from "@/tests/support/service";

const run = promisify(execFile);
// Not a dependency of ours: 200 MB for a figure that is looked at now and then.
const lighthouse = "lighthouse@12.8.2";
const groups = ["performance", "accessibility", "best-practices", "seo"] as const;

type Report = { categories: Record<(typeof groups)[number], { score: number }> };

/** Lighthouse on the front page and every document, as on a mid-range phone: its four scores of 100. */
export async function measurePages(print: (line: string) => void): Promise<void> {
  const service = await Service.start({ SIGN_IN: "local" });
  for (const path of ["/", ...documents.map((document) => document.path)]) {
    const flags = ["--quiet", "--output=json", `--chrome-flags=--headless=new ${chromium.args.join(" ")}`];
    const { stdout } = await run(
      "npx",
      ["-y", "-p", lighthouse, "lighthouse", service.url + path, ...flags],
      {
        env: { ...process.env, CHROME_PATH: chromium.executablePath },
        maxBuffer: 1e8,
      },
    );
    const { categories }: Report = JSON.parse(stdout);
    const scores = groups.map((group) => `${group} ${Math.round(categories[group].score * 100)}`);
    print(`Lighthouse ${path}: ${scores.join(", ")} (goal: 95 in each)`);
  }
  await service.stop();
}
