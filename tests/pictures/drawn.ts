import { readFileSync, writeFileSync } from "node:fs";
import type { Browser } from "@playwright/test";

/** Renders the bitmap icons from the vector icon. */
export async function drawIcons(browser: Browser): Promise<void> {
  const vector = readFileSync("public/favicon.svg", "utf8");
  // Phones round the corners themselves.
  writeFileSync("public/apple-touch-icon.png", await draw(browser, vector.replace('rx="7"', ""), 180));
  writeFileSync("public/favicon.ico", toIco(await draw(browser, vector, 32), 32));
}

async function draw(browser: Browser, vector: string, size: number): Promise<Buffer> {
  const page = await browser.newPage({ viewport: { width: size, height: size } });
  await page.setContent(`<style>* { margin: 0 } svg { display: block; width: ${size}px }</style>${vector}`);
  const png = await page.screenshot({ omitBackground: true });
  await page.close();
  return png;
}

/** An ICO file with one image: the header, one entry, and the unchanged PNG. */
function toIco(png: Buffer, size: number): Buffer {
  const head = Buffer.alloc(22);
  head.writeUInt16LE(1, 2); // type: icon
  head.writeUInt16LE(1, 4); // number of images
  head.writeUInt8(size, 6);
  head.writeUInt8(size, 7);
  head.writeUInt16LE(1, 10);
  head.writeUInt16LE(32, 12); // bits per pixel
  head.writeUInt32LE(png.length, 14);
  head.writeUInt32LE(head.length, 18);
  return Buffer.concat([head, png]);
}

/** The words of each card, and what of the front page is next to them: the job that waits shows what this is. */
const cards = {
  "social-card": [
    "Run a company of AI assistants",
    "They prepare. You approve. Nothing leaves without you.",
    ".screen",
  ],
  "social-card-documents": [
    "Documents",
    "The public API, its errors and limits, and a client that behaves.",
    ".drawing",
  ],
  "social-card-news": [
    "Status and changes",
    "The current state of this service, and what has changed.",
    ".drawing",
  ],
};

/** Renders the social cards, 1200 by 630, one per kind of page, in the front page's style. */
export async function drawCards(browser: Browser, url: string): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1200, height: 630 }, bypassCSP: true });
  for (const [name, words] of Object.entries(cards)) {
    const page = await context.newPage();
    await page.goto(url, { waitUntil: "networkidle" });
    await page.addStyleTag({ content: style });
    await page.evaluate(([title, line, shown = ""]) => {
      const [mark, drawing] = [document.querySelector(".brand"), document.querySelector(shown)];
      const heading = document.createElement("h1");
      const about = document.createElement("p");
      heading.textContent = title ?? "";
      about.textContent = line ?? "";
      const text = document.createElement("div");
      text.append(...(mark ? [mark] : []), heading, about);
      document.body.replaceChildren(text, ...(drawing ? [drawing] : []));
    }, words);
    await page.screenshot({ path: `public/${name}.png` });
    await page.close();
  }
  await context.close();
}

const style = `
body { display: grid; grid-template: 630px / 1fr 520px; align-items: center; gap: 20px; height: 630px; padding: 0 50px 0 80px; box-sizing: border-box; }
body > div { display: grid; gap: 28px; }
.brand { display: flex; align-items: center; gap: 16px; color: var(--ink); font: 600 34px/1 var(--serif); text-decoration: none; }
.mark { width: 38px; height: 38px; }
h1 { margin: 0; font-size: 72px; line-height: 1.03; letter-spacing: -0.03em; }
body > div:first-child p { margin: 0; color: var(--quiet); font-size: 27px; line-height: 1.4; }
.screen { align-self: end; max-height: 560px; border-end-end-radius: 0; border-end-start-radius: 0; zoom: 1.12; }
`;
