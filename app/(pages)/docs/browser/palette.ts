import { actions, documentsOfMenu, type Entry, type Group, search } from "./entries";
import { make } from "./make";

/**
 * ⌘K or Ctrl K opens the palette: no key without a modifier, as speech input would type it anywhere (WCAG 2.2, 2.1.4). Its
 * entries are links, so a click with a modifier key works as on any link.
 */
export function openPalette(): void {
  const box = document.querySelector<HTMLInputElement>("#search");
  if (!box?.form) return;
  const address = `${box.form.action}.json`;
  const { dialog, input, list, note } = build();
  let options: HTMLElement[] = [];
  let chosen: HTMLElement | undefined;

  function show(groups: Group[], words = ""): void {
    list.replaceChildren(...groups.filter(({ entries }) => entries.length > 0).map(toGroup));
    options = [...list.querySelectorAll<HTMLElement>("[role=option]")];
    note.textContent = words;
    choose(options[0]);
  }

  function choose(option: HTMLElement | undefined): void {
    chosen = option;
    for (const other of options) other.ariaSelected = String(other === option);
    if (option) input.setAttribute("aria-activedescendant", option.id);
    else input.removeAttribute("aria-activedescendant");
    // Scroll the first option into view together with its heading.
    (option === options[0] ? list.firstElementChild : option)?.scrollIntoView({ block: "nearest" });
  }

  function step(by: number): void {
    const at = chosen ? options.indexOf(chosen) : 0;
    choose(options[(at + by + options.length) % options.length]);
  }

  async function find(): Promise<void> {
    const query = input.value.trim();
    if (!query) return show([...documentsOfMenu(), actions()]);
    const hits = await search(address, query);
    // Ignore the response to an earlier query.
    if (input.value.trim() !== query) return;
    if (!hits) return show([actions()], "The search is not available at the moment.");
    const groups = [...hits, actions(query)];
    const count = groups.flatMap(({ entries }) => entries).length;
    const all = {
      title: "All results on one page",
      path: `${box?.form?.action}?q=${encodeURIComponent(query)}`,
    };
    if (hits.length > 0) groups.push({ heading: "More", entries: [all] });
    if (count > 0) show(groups, count === 1 ? "1 result" : `${count} results`);
    else
      show(
        [...documentsOfMenu(), actions()],
        `Nothing found for “${query}”. Try a single word, a code such as trial_ended, or a path.`,
      );
  }

  function open(): void {
    if (dialog.open) return;
    input.value = box?.value ?? "";
    dialog.showModal();
    input.select();
    void find();
  }

  function close(): void {
    dialog.close();
    // If nothing else had the focus, the input keeps it until the next frame, and what is typed at once would go into it.
    input.blur();
  }

  dialog.addEventListener("click", ({ target }) => target === dialog && close());
  input.addEventListener("input", find);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") step(1);
    else if (event.key === "ArrowUp") step(-1);
    else if (event.key === "Escape") close();
    else if (event.key === "Enter") chosen?.click();
    else return;
    event.preventDefault();
  });
  openFrom(box, open);
}

/** Opens the palette by its keys, and from the box, unless that is on the results page: there its query is changed. */
function openFrom(box: HTMLInputElement, open: () => void): void {
  if (!box.closest("article")) {
    box.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      open();
    });
    const key = /^(?:Mac|iP)/.test(navigator.platform) ? "⌘" : "Ctrl";
    box.after(make("kbd", { textContent: `${key} K` }));
  }
  box.setAttribute("aria-keyshortcuts", "Control+K Meta+K");
  document.addEventListener("keydown", (event) => {
    if (event.key !== "k" || event.ctrlKey === event.metaKey) return;
    event.preventDefault();
    open();
  });
}

function build() {
  const ariaLabel = "Search the documents";
  const dialog = make("dialog", { className: "palette", ariaLabel });
  const list = make("div", { id: "hits", role: "listbox", ariaLabel: "Results" });
  const note = make("p", { className: "quiet", role: "status" });
  const input = make("input", {
    type: "search",
    role: "combobox",
    placeholder: "A word, a code, a path",
    ariaLabel,
    ariaExpanded: "true",
    ariaAutoComplete: "list",
    autocomplete: "off",
    maxLength: 200,
  });
  input.setAttribute("aria-controls", list.id);
  dialog.append(input, note, list, keys());
  document.body.append(dialog);
  return { dialog, input, list, note };
}

/** What the keys do. */
function keys(): HTMLElement {
  const line = make("p", { className: "keys" });
  for (const [key, does] of [
    ["↑ ↓", "choose"],
    ["Enter", "open"],
    ["Esc", "close"],
  ])
    line.append(make("kbd", { textContent: key ?? "" }), ` ${does} `);
  return line;
}

function toGroup({ heading, entries }: Group, at: number): HTMLElement {
  const group = make("div", { role: "group" });
  const name = make("p", { id: `group-${at}`, textContent: heading });
  group.setAttribute("aria-labelledby", name.id);
  group.append(name, ...entries.map((entry, n) => toOption(entry, `hit-${at}-${n}`)));
  return group;
}

function toOption({ title, snippet, path, press }: Entry, id: string): HTMLElement {
  const option = make("a", { id, role: "option", tabIndex: -1, href: path ?? "#" });
  option.onclick = (event) => {
    if (!path) {
      event.preventDefault();
      press?.();
    }
    option.closest("dialog")?.close();
  };
  option.append(make("strong", { textContent: title }));
  if (snippet) option.append(make("span", { textContent: snippet }));
  return option;
}
