import { loadScript } from "@clerk/shared/loadScript";
import type { BrowserClerk, ClerkOptions, ClerkUIConstructor } from "@clerk/shared/types";

/* The script of pages with one of Clerk's components: `npm run bundle` builds public/clerk.js from it. */

/** What Clerk's two scripts leave, as its documentation for plain JavaScript has it. */
type Loaded = { Clerk?: BrowserClerk; __internal_ClerkUICtor?: ClerkUIConstructor };

/** The major versions that `@clerk/nextjs` loads. */
const scripts = ["/npm/@clerk/ui@1/dist/ui.browser.js", "/npm/@clerk/clerk-js@6/dist/clerk.browser.js"];
const loadedWithinMs = 20_000; // 20 seconds, then the page says so

/** Loads Clerk's scripts from its Frontend API, and mounts the component that the page has a place for. */
async function mountClerk(place: HTMLElement): Promise<void> {
  const problem = place.querySelector("[data-unreachable]") as HTMLElement;
  const late = setTimeout(() => {
    problem.hidden = false;
  }, loadedWithinMs);
  problem.hidden = await mount(place).then(
    () => true,
    () => false,
  );
  clearTimeout(late);
  place.querySelector("[role=status]")?.remove();
}

async function mount(place: HTMLElement): Promise<void> {
  const { host = "", key = "", part, options = "{}" } = place.dataset;
  const beforeLoad = (script: HTMLScriptElement) => {
    script.dataset.clerkPublishableKey = key;
  };
  await Promise.all(
    scripts.map((path) => loadScript(host + path, { async: true, crossOrigin: "anonymous", beforeLoad })),
  );
  const { Clerk: clerk, __internal_ClerkUICtor: ClerkUI } = window as Window & Loaded;
  if (!clerk || !ClerkUI) throw new Error("Clerk's scripts are not what they were");
  await clerk.load({ ...JSON.parse(options), ui: { ClerkUI }, telemetry: false } as ClerkOptions);
  if (part === "UserButton") sessionStorage.removeItem(ledAwayAt);
  else if (clerk.isSignedIn && wasLedAway()) {
    (place.querySelector("[data-circle]") as HTMLElement).hidden = false;
    return;
  }
  const node = document.createElement("div");
  place.append(node);
  if (part === "SignIn") clerk.mountSignIn(node, { routing: "hash" });
  else if (part === "SignUp") clerk.mountSignUp(node, { routing: "hash" });
  else clerk.mountUserButton(node);
}

const ledAwayAt = "led-away-at";
const circleMs = 60_000; // 1 minute

/**
 * Whether Clerk has led this tab away from here just now. It leads away who is signed in there; if our server does not see
 * the session, it leads back here, and that would go on for ever.
 */
function wasLedAway(): boolean {
  const sinceMs = Date.now() - Number(sessionStorage.getItem(ledAwayAt));
  sessionStorage.setItem(ledAwayAt, String(Date.now()));
  return Math.abs(sinceMs) < circleMs;
}

const place = document.querySelector<HTMLElement>("#clerk");
if (place) void mountClerk(place);
