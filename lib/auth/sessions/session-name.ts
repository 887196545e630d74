import type { Session } from "@/lib/auth/sessions/session";
import { clientNetwork } from "@/lib/auth/sessions/session-network";
import type { Call } from "@/lib/http/call";

/*
 * The names of sessions that owners see. They are built from fixed words; no text that a client sends appears in them.
 */

/** The first match counts, because most browsers also name the ones that they derive from. */
const browsers: [name: string, sign: RegExp][] = [
  ["Edge", /\bEdg(?:e|A|iOS)?\//],
  ["Opera", /\bOPR\//],
  ["Vivaldi", /\bVivaldi\//],
  ["Samsung Internet", /\bSamsungBrowser\//],
  ["Firefox", /\b(?:Firefox|FxiOS)\//],
  ["Chromium", /\bChromium\//],
  ["Chrome", /\b(?:Headless)?Chrom(?:e|ium)\/|\bCriOS\//],
  ["Safari", /\bSafari\//],
];

const systems: [name: string, sign: RegExp][] = [
  ["iPhone", /\biPhone\b/],
  ["iPad", /\biPad\b/],
  ["Android", /\bAndroid\b/],
  ["ChromeOS", /\bCrOS\b/],
  ["Windows", /\bWindows\b/],
  ["macOS", /\bMac OS X\b/],
  ["Linux", /\bLinux\b/],
];

/** For example "Chromium on Linux". */
export function describeBrowser(headers: Pick<Headers, "get">): string {
  const agent = headers.get("user-agent") ?? "";
  const find = (names: typeof browsers) => names.find(([, sign]) => sign.test(agent))?.[0];
  const [browser, system] = [find(browsers), find(systems)];
  // Chromium's User-Agent says Chrome; its client hints say Chromium (https://wicg.github.io/ua-client-hints/).
  const brands = headers.get("sec-ch-ua") ?? "";
  const isChromium =
    browser === "Chrome" && brands.includes('"Chromium"') && !brands.includes('"Google Chrome"');
  return `${isChromium ? "Chromium" : (browser ?? "A browser")}${system ? ` on ${system}` : ""}`;
}

/** Where a session that this browser starts was started, as its row stores it. */
export function describeStart({ headers, client }: Pick<Call, "headers" | "client">) {
  return { begun_in: describeBrowser(headers), network: clientNetwork(client) ?? null };
}

/** Numbers sessions that share a name, oldest first, so that each row of a list has a name of its own. */
export function withDistinctNames(sessions: readonly Session[]): Session[] {
  const counts = new Map<string, number>();
  const numbered = sessions.toReversed().map((session) => {
    const nth = (counts.get(session.name) ?? 0) + 1;
    counts.set(session.name, nth);
    return nth === 1 ? session : { ...session, name: `${session.name} #${nth}` };
  });
  return numbered.reverse();
}

/** For example "Token copied on 21 November". */
export function nameToken(by: "owner" | "operator", nowMs: number): string {
  const date = { day: "numeric", month: "long", timeZone: "UTC" } as const;
  return `Token ${by === "owner" ? "copied" : "from the operator"} on ${new Date(nowMs).toLocaleDateString("en-GB", date)}`;
}
