import type { PaletteHit } from "../search.json/route";
import { readPage } from "./copy";

/** An entry of the palette: an address to open or an action to run. */
export type Entry = { title: string; snippet?: string; path?: string; act?: () => void };

/** Entries under one heading. */
export type Group = { heading: string; entries: Entry[] };

/** The actions available on every document, filtered to titles that contain this text. */
export function actions(named = ""): Group {
  const page = document.querySelector<HTMLAnchorElement>('[data-copies="page"]');
  const copies: Entry[] = page
    ? [
        {
          title: "Copy this page as Markdown",
          act: () => void readPage(page.href).then((text) => navigator.clipboard.writeText(text)),
        },
      ]
    : [];
  const entries = [...copies, ...linksIn(".site .button, .foot a")];
  return {
    heading: "Actions",
    entries: entries.filter(({ title }) => title.toLowerCase().includes(named.toLowerCase())),
  };
}

/** The documents, grouped as in the menu. */
export function documentsOfMenu(): Group[] {
  const sections = document.querySelectorAll<HTMLElement>(".contents > nav section");
  return [...sections].map((section, at) => ({
    heading: section.querySelector("h2")?.textContent ?? "",
    entries: linksIn(`.contents > nav section:nth-of-type(${at + 1}) a`),
  }));
}

/** Search hits, grouped by kind, the best hit's kind first; `undefined` if the search cannot be reached. */
export async function search(address: string, query: string): Promise<Group[] | undefined> {
  const answer = await fetch(`${address}?q=${encodeURIComponent(query)}`).catch(() => undefined);
  if (!answer?.ok) return undefined;
  const hits: PaletteHit[] = await answer.json();
  return [...Map.groupBy(hits, ({ kind }) => kind)].map(([heading, entries]) => ({ heading, entries }));
}

function linksIn(selector: string): Entry[] {
  return [...document.querySelectorAll<HTMLAnchorElement>(selector)].map((link) => ({
    title: link.textContent ?? "",
    path: link.getAttribute("href") ?? "",
  }));
}
