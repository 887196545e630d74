import type { PaletteHit } from "../search.json/route";

/** An entry of the palette: an address to open, or a button of the page to press. */
export type Entry = { title: string; snippet?: string; path?: string | null; press?: () => void };

/** Entries under one heading. */
export type Group = { heading: string; entries: Entry[] };

/** What can be done on every document: the controls of the page whose words contain this text. */
export function actions(named = ""): Group {
  const entries = entriesOf(document.querySelectorAll(".after button, .site .button, .foot a"));
  return {
    heading: "Actions",
    entries: entries.filter(({ title }) => title.toLowerCase().includes(named.toLowerCase())),
  };
}

/** The documents, grouped as in the menu. */
export function documentsOfMenu(): Group[] {
  const sections = document.querySelectorAll<HTMLElement>(".contents > nav section");
  return [...sections].map((section) => ({
    heading: section.querySelector("h2")?.textContent ?? "",
    entries: entriesOf(section.querySelectorAll("a")),
  }));
}

/** Search hits, grouped by kind, the best hit's kind first; `undefined` if the search cannot be reached. */
export async function search(address: string, query: string): Promise<Group[] | undefined> {
  const answer = await fetch(`${address}?q=${encodeURIComponent(query)}`).catch(() => undefined);
  if (!answer?.ok) return undefined;
  const hits: PaletteHit[] = await answer.json();
  const kinds = new Set(hits.map(({ kind }) => kind));
  return [...kinds].map((heading) => ({ heading, entries: hits.filter(({ kind }) => kind === heading) }));
}

function entriesOf(controls: NodeListOf<HTMLElement>): Entry[] {
  return [...controls].map((control) => ({
    title: control.textContent ?? "",
    path: control.getAttribute("href"),
    press: () => control.click(),
  }));
}
