import { tellMoments } from "../../browser/clock";
import { home, renewEveryMs, renewSession } from "./renew-session";
import { showUsable } from "./usable";

/** Keeps an open page current: renews the session, and checks again when due or when the page becomes visible. */
export function keepCurrent(): void {
  let next: ReturnType<typeof setTimeout>;
  const checkLater = () => {
    clearTimeout(next);
    next = setTimeout(check, 1000 * secondsToNext());
  };
  // A page that is not visible is brought up to date when it becomes so.
  const check = () => (document.hidden ? Promise.resolve(false) : bringUpToDate()).finally(checkLater);
  checkLater();
  setInterval(renewSession, renewEveryMs);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") void check();
  });
}

/** The page may check again sooner for one of its parts. */
function secondsToNext(): number {
  const parts = document.querySelectorAll<HTMLElement>("[data-checks-after]");
  return Math.min(60 * 60, ...[...parts].map(({ dataset }) => Number(dataset.checksAfter)));
}

const ownerAtFirst = home()?.dataset.account;

/**
 * Shows what the page would say now, and returns whether it does. What the reader has opened, typed or focused stays as it is,
 * unless another owner has signed in to this browser meanwhile: what was typed is not theirs.
 */
export async function bringUpToDate(): Promise<boolean> {
  if (!(await renewSession())) return false;
  const { page, address } = await fetchPage(home()?.dataset.checks ?? location.href);
  const [shown, fresh] = [home(), page?.querySelector<HTMLElement>(".home")];
  if (address && new URL(address).pathname !== location.pathname) location.assign(address);
  if (!page || !shown || !fresh) return false;
  const owner = fresh.dataset.account;
  if (ownerAtFirst && owner && owner !== ownerAtFirst) {
    location.replace(address);
    return false;
  }
  tellMoments(page);
  await showUsable(page);
  update(shown, fresh);
  return true;
}

/** Fetches a page and parses it, which the policy of this page forbids to DOMParser. */
function fetchPage(from: string): Promise<{ page: Document | null; address: string }> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open("GET", from);
    request.responseType = "document";
    request.onloadend = () => resolve({ page: request.responseXML, address: request.responseURL });
    request.send();
  });
}

/** Makes an element what another one is, and leaves alone what its own script or its reader has changed. */
function update(shown: Element, fresh: Element): void {
  if (shown.hasAttribute("data-kept") || shown.isEqualNode(fresh)) return;
  for (const name of new Set([...shown.getAttributeNames(), ...fresh.getAttributeNames()])) {
    const value = fresh.getAttribute(name);
    if (name === "open" || value === shown.getAttribute(name)) continue;
    if (value === null) shown.removeAttribute(name);
    else shown.setAttribute(name, value);
  }
  const left = [...shown.childNodes];
  for (const node of [...fresh.childNodes]) {
    const at = left.findIndex((one) => isOfSame(one, node));
    const gone = left.splice(0, at + 1);
    const present = gone.pop();
    for (const one of gone) one.remove();
    if (!present) shown.insertBefore(node, left[0] ?? null);
    else if (present instanceof Element) update(present, node as Element);
    else if (present.nodeValue !== node.nodeValue) present.nodeValue = node.nodeValue;
  }
  for (const one of left) one.remove();
}

/** Whether two nodes show the same thing, at different times. */
function isOfSame(one: Node, other: Node): boolean {
  if (!(one instanceof HTMLElement && other instanceof HTMLElement)) return one.nodeName === other.nodeName;
  const [before, after] = [one, other].map(({ nodeName, id, className, dataset: { key } }) =>
    String([nodeName, id, className, key]),
  );
  return before === after;
}
