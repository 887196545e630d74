import type { SearchHit } from "@/lib/docs/search";
import { readPage } from "./copy";

type Entry = { title: string; snippet?: string; path?: string; act?: () => void };

/*
 * The palette, over documents, codes and actions. `/` and ⌘K (Ctrl K) open it; the arrows choose, Enter opens, Escape
 * closes. Its entries are links: a click with a key held opens them as anywhere.
 */
export function openPalette(): void {
  const box = document.querySelector<HTMLInputElement>("#search");
  if (!box?.form) return;
  const address = `${box.form.action}.json`;
  const { dialog, input, list, note } = build();
  let entries: Entry[] = [];
  let chosen = -1;

  function show(next: Entry[], words: string): void {
    entries = next;
    list.replaceChildren(...entries.map(toOption));
    note.textContent = words;
    choose(entries.length > 0 ? 0 : -1);
  }

  function choose(at: number): void {
    chosen = at;
    for (const [n, option] of [...list.children].entries()) option.ariaSelected = String(n === at);
    if (at < 0) input.removeAttribute("aria-activedescendant");
    else input.setAttribute("aria-activedescendant", `hit-${at}`);
    list.children[at]?.scrollIntoView({ block: "nearest" });
  }

  async function search(): Promise<void> {
    const query = input.value;
    if (!query.trim()) return show([...actions(), ...documentsOfMenu()], "");
    const answer = await fetch(`${address}?q=${encodeURIComponent(query)}`).catch(() => undefined);
    // An answer to what was typed before comes too late.
    if (input.value !== query) return;
    if (!answer?.ok) return show(actions(), "The search cannot be reached at the moment.");
    const asked = query.trim().toLowerCase();
    const hits: Entry[] = ((await answer.json()) as SearchHit[]).map(({ title, snippet, path }) => ({
      title,
      snippet,
      path,
    }));
    const fitting = actions().filter(({ title }) => title.toLowerCase().includes(asked));
    const isEmpty = hits.length + fitting.length === 0;
    if (isEmpty)
      show(
        actions(),
        `Nothing found for “${query}”. Try one word of it, a code such as trial_ended, or a path.`,
      );
    else show([...hits, ...fitting], "");
  }

  function open(): void {
    if (dialog.open) return;
    input.value = box?.value ?? "";
    dialog.showModal();
    input.select();
    void search();
  }

  dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());
  input.addEventListener("input", search);
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const option = list.children[chosen];
    if (step && entries.length > 0) choose((chosen + step + entries.length) % entries.length);
    else if (event.key === "Escape") dialog.close();
    else if (event.key === "Enter" && option instanceof HTMLElement) option.click();
    else return;
    event.preventDefault();
  });
  box.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    open();
  });
  box.setAttribute("aria-keyshortcuts", "/ Control+K Meta+K");
  document.addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, altKey, target } = event;
    const isTyping = (target as HTMLElement).matches("input:not([type=radio]), textarea, select");
    const isAsked =
      key === "/" ? !(isTyping || ctrlKey || metaKey || altKey) : key === "k" && (ctrlKey || metaKey);
    if (!isAsked) return;
    event.preventDefault();
    open();
  });
}

function build() {
  const dialog = document.createElement("dialog");
  dialog.className = "palette";
  dialog.setAttribute("aria-label", "Search the documents");
  const input = document.createElement("input");
  const list = document.createElement("div");
  const note = document.createElement("p");
  list.id = "hits";
  list.role = "listbox";
  list.ariaLabel = "Hits";
  note.role = "status";
  const attributes = {
    type: "search",
    role: "combobox",
    placeholder: "A word, a code, a path",
    "aria-label": "Search the documents",
    "aria-expanded": "true",
    "aria-controls": list.id,
    "aria-autocomplete": "list",
    autocomplete: "off",
    maxlength: "200",
  };
  for (const [name, value] of Object.entries(attributes)) input.setAttribute(name, value);
  dialog.append(input, note, list);
  document.body.append(dialog);
  return { dialog, input, list, note };
}

/** What can be done from any document. */
function actions(): Entry[] {
  const page = document.querySelector<HTMLAnchorElement>('[data-copies="page"]');
  const copies: Entry[] = page
    ? [
        {
          title: "Copy this page as Markdown",
          act: () => void readPage(page.href).then((text) => navigator.clipboard.writeText(text)),
        },
      ]
    : [];
  return [
    ...copies,
    { title: "Open your home page", path: "/home" },
    { title: "See the status of this service", path: "/status" },
  ];
}

/** The documents themselves, as the menu has them. */
function documentsOfMenu(): Entry[] {
  const links = document.querySelectorAll<HTMLAnchorElement>(".contents > nav a");
  return [...links].map((link) => ({ title: link.textContent ?? "", path: link.getAttribute("href") ?? "" }));
}

function toOption({ title, snippet, path, act }: Entry, at: number): HTMLElement {
  const option = document.createElement("a");
  option.id = `hit-${at}`;
  option.role = "option";
  option.tabIndex = -1;
  option.href = path ?? "#";
  option.onclick = (event) => {
    if (act) event.preventDefault();
    act?.();
    option.closest("dialog")?.close();
  };
  const name = document.createElement("strong");
  name.textContent = title;
  option.append(name);
  if (snippet) {
    const text = document.createElement("span");
    text.textContent = snippet;
    option.append(text);
  }
  return option;
}
