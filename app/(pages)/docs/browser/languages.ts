const key = "documents-language";

/** Whoever chose a language once gets it everywhere: `?lang=` of the address, or what was chosen last. */
export function rememberLanguage(): void {
  const asked = new URLSearchParams(location.search).get("lang") ?? recall();
  if (asked) choose(asked);
  document.addEventListener("change", ({ target }) => {
    if (!(target instanceof HTMLInputElement) || !target.closest('[data-kind="Language"]')) return;
    const before = target.getBoundingClientRect().top;
    choose(target.value);
    // What is above may have grown: what was pressed stays where it is.
    scrollBy({ top: target.getBoundingClientRect().top - before, behavior: "instant" });
    try {
      localStorage.setItem(key, target.value);
    } catch {}
    const address = new URL(location.href);
    address.searchParams.set("lang", target.value);
    history.replaceState(null, "", address);
  });
}

function choose(language: string): void {
  for (const input of document.querySelectorAll<HTMLInputElement>('[data-kind="Language"] input')) {
    if (input.value === language) input.checked = true;
  }
}

/** A browser may keep nothing for us, and says so by throwing. */
function recall(): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}
