"use client";

import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import type { SearchHit } from "@/lib/docs/search";

/**
 * The search of the documents, keyboard first: `/` goes to it, the arrows choose a hit, Enter opens it and
 * Escape closes the list. It is an ordinary form, so it works without JavaScript too.
 */
export function SearchBox() {
  const input = useRef<HTMLInputElement>(null);
  const [hits, setHits] = useState<SearchHit[]>([]);
  const [chosen, setChosen] = useState(-1);
  const isOpen = hits.length > 0;

  useEffect(() => {
    const goToBox = (event: globalThis.KeyboardEvent) => {
      const isTyping = (event.target as HTMLElement).matches("input, textarea, select, [contenteditable]");
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
      event.preventDefault();
      input.current?.focus();
    };
    document.addEventListener("keydown", goToBox);
    return () => document.removeEventListener("keydown", goToBox);
  }, []);

  async function search(query: string) {
    setChosen(-1);
    const found = query.trim() ? await fetch(`/docs/search.json?q=${encodeURIComponent(query)}`) : undefined;
    // An answer to what was typed before comes too late.
    if (input.current?.value === query) setHits(found?.ok ? await found.json() : []);
  }

  function steer(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const hit = hits[chosen];
    // One step past either end is the box itself.
    if (step && isOpen) setChosen(((chosen + 1 + step + hits.length + 1) % (hits.length + 1)) - 1);
    else if (event.key === "Escape") setHits([]);
    else if (event.key === "Enter" && hit) location.assign(hit.path);
    else return;
    event.preventDefault();
  }

  return (
    <search>
      <form
        action="/docs/search"
        onBlur={(event) => event.currentTarget.contains(event.relatedTarget) || setHits([])}
      >
        <label htmlFor="search">Search the documents</label>
        <input
          id="search"
          ref={input}
          name="q"
          type="search"
          autoComplete="off"
          maxLength={200}
          role="combobox"
          aria-expanded={isOpen}
          aria-controls="search-hits"
          aria-autocomplete="list"
          aria-activedescendant={chosen >= 0 ? `search-hit-${chosen}` : undefined}
          aria-keyshortcuts="/"
          onChange={(event) => search(event.target.value)}
          onKeyDown={steer}
        />
        <div id="search-hits" role="listbox" aria-label="Hits" hidden={!isOpen}>
          {hits.map(({ path, title, snippet }, at) => (
            <a
              key={path}
              id={`search-hit-${at}`}
              href={path}
              role="option"
              aria-selected={at === chosen}
              tabIndex={-1}
            >
              <strong>{title}</strong>
              <span>{snippet}</span>
            </a>
          ))}
        </div>
      </form>
    </search>
  );
}
