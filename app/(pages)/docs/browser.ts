import type { SearchHit } from "@/lib/docs/search";

/*
 * What the documents do where there is JavaScript: `npm run bundle` makes public/documents.js of it. Without it the
 * search is an ordinary form, and a sample is copied by hand.
 */

/** A button beside every sample, which copies it. */
for (const sample of document.querySelectorAll(".sample")) {
  const button = document.createElement("button");
  button.className = "copy";
  button.type = "button";
  button.textContent = "Copy";
  button.onclick = async () => {
    await navigator.clipboard.writeText(`${sample.querySelector("code")?.textContent}\n`);
    button.textContent = "Copied";
  };
  sample.append(button);
}

/*
 * The search, keyboard first: `/` goes to it, the arrows choose a hit, Enter opens it and Escape closes the list.
 */
const input = document.querySelector<HTMLInputElement>("#search");
const list = document.querySelector<HTMLElement>("#search-hits");
if (input && list) listHits(input, list);

function listHits(input: HTMLInputElement, list: HTMLElement): void {
  let chosen = -1;

  function show(hits: SearchHit[]): void {
    list.replaceChildren(...hits.map(toOption));
    list.hidden = hits.length === 0;
    input.ariaExpanded = String(hits.length > 0);
    choose(-1);
  }

  function choose(at: number): void {
    chosen = at;
    for (const [n, option] of [...list.children].entries()) option.ariaSelected = String(n === at);
    if (at < 0) input.removeAttribute("aria-activedescendant");
    else input.setAttribute("aria-activedescendant", `search-hit-${at}`);
  }

  async function search(query: string): Promise<void> {
    choose(-1);
    const found = query.trim()
      ? await fetch(`${input.form?.action}.json?q=${encodeURIComponent(query)}`)
      : undefined;
    const hits = found?.ok ? await found.json() : [];
    // An answer to what was typed before comes too late.
    if (input.value === query) show(hits);
  }

  function steer(event: KeyboardEvent): void {
    const count = list.children.length;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const hit = list.children[chosen];
    // One step past either end is the box itself.
    if (step && count > 0) choose(((chosen + 1 + step + count + 1) % (count + 1)) - 1);
    else if (event.key === "Escape") show([]);
    else if (event.key === "Enter" && hit instanceof HTMLAnchorElement) location.assign(hit.href);
    else return;
    event.preventDefault();
  }

  for (const [name, value] of Object.entries({
    role: "combobox",
    "aria-expanded": "false",
    "aria-controls": list.id,
    "aria-autocomplete": "list",
    "aria-keyshortcuts": "/",
  })) {
    input.setAttribute(name, value);
  }
  input.addEventListener("input", () => search(input.value));
  input.addEventListener("keydown", steer);
  input.form?.addEventListener("focusout", ({ relatedTarget }) => {
    if (!input.form?.contains(relatedTarget as Node | null)) show([]);
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = (event.target as HTMLElement).matches("input, textarea, select, [contenteditable]");
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
    event.preventDefault();
    input.focus();
  });
}

function toOption({ path, title, snippet }: SearchHit, at: number): HTMLElement {
  const option = document.createElement("a");
  option.id = `search-hit-${at}`;
  option.href = path;
  option.role = "option";
  option.tabIndex = -1;
  const [name, text] = [document.createElement("strong"), document.createElement("span")];
  name.textContent = title;
  text.textContent = snippet;
  option.append(name, text);
  return option;
}
