import { make } from "./make";

/** Adds a copy button to every sample, and one for the whole page. */
export function addCopyButtons(): void {
  for (const sample of document.querySelectorAll<HTMLElement>(".sample")) {
    sample.append(copyButton("Copy", async () => `${sample.querySelector("code")?.textContent}\n`));
  }
  const link = document.querySelector<HTMLAnchorElement>('[data-copies="page"]');
  link?.before(
    copyButton("Copy page as Markdown", () => readPage(link.href)),
    " · ",
  );
}

/** Fetches the open page as Markdown. */
export async function readPage(address: string): Promise<string> {
  return (await fetch(address)).text();
}

function copyButton(words: string, read: () => Promise<string>): HTMLButtonElement {
  const className = words === "Copy" ? "plain small copy" : "linklike";
  const button = make("button", { type: "button", className, textContent: words });
  button.onclick = async () => {
    const isDone = await read()
      .then((text) => navigator.clipboard.writeText(text))
      .then(
        () => true,
        () => false,
      );
    button.textContent = isDone ? "Copied" : "Copying failed";
    setTimeout(() => {
      button.textContent = words;
    }, 2000);
  };
  return button;
}
