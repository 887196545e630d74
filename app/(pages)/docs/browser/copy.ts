import { make } from "./make";

/** Adds a copy button to every sample, and one for the whole page. */
export function addCopyButtons(): void {
  for (const sample of document.querySelectorAll<HTMLElement>(".sample")) {
    const read = async () => `${sample.querySelector("code")?.textContent}\n`;
    sample.append(copyButton("Copy", "plain small copy", read));
  }
  const link = document.querySelector<HTMLAnchorElement>('[data-copies="page"]');
  const read = async () => (await fetch(link?.href ?? "")).text();
  link?.before(copyButton("Copy page as Markdown", "linklike", read), " · ");
}

function copyButton(words: string, className: string, read: () => Promise<string>): HTMLButtonElement {
  const button = make("button", { type: "button", className, textContent: words });
  button.onclick = async () => {
    try {
      await navigator.clipboard.writeText(await read());
      button.textContent = "Copied";
    } catch {
      button.textContent = "Copying failed";
    }
    setTimeout(() => {
      button.textContent = words;
    }, 2000);
  };
  return button;
}
