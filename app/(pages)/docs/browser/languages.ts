const key = "documents-language";

/** Shows every sample in the reader's language: `?lang=` of the address, or the one chosen last. */
export function rememberLanguage(): void {
  const asked = new URLSearchParams(location.search).get("lang") ?? recall();
  if (asked) choose(asked);
  document.addEventListener("change", ({ target }) => {
    if (!(target instanceof HTMLInputElement) || !target.closest('[aria-label="Language"]')) return;
    const before = target.getBoundingClientRect().top;
    choose(target.value);
    // Samples above may have changed height: keep the pressed tab where it was.
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
  for (const input of document.querySelectorAll<HTMLInputElement>('[aria-label="Language"] input')) {
    if (input.value === language) input.checked = true;
  }
}

/** A browser that forbids storage throws. */
function recall(): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}
