import type { Session } from "@/lib/auth/sessions/session";
import { clientNetwork } from "@/lib/auth/sessions/session-network";
import { aheadOfUtc } from "@/lib/config/time-zone";
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

/** The name of a program on its owner's computer that gave none. */
export const unnamedProgram = "A program on this computer";

/** How the name begins that we give to a program without one. */
export const namedBySystem = "An app on ";

const devices: Record<string, string> = {
  iPhone: "an iPhone",
  iPad: "an iPad",
  Android: "an Android device",
  ChromeOS: "a Chromebook",
  Windows: "a Windows computer",
  macOS: "a Mac",
  Linux: "a Linux computer",
};

/** Names the device of a program without a name: it is on the one whose browser approved it. */
export function nameProgram<App extends { name: string }>(app: App, begunIn: string | null): App {
  const device = devices[/ on (.+)$/.exec(begunIn ?? "")?.[1] ?? ""];
  return app.name === unnamedProgram && device ? { ...app, name: namedBySystem + device } : app;
}

/**
 * Tells sessions that share a name apart by the day on which they began, in a zone or in UTC, or by its time, or else by a
 * number, oldest first: each row of a list has a name of its own.
 */
export function withDistinctNames(sessions: readonly Session[], zone?: string | null): Session[] {
  const since = (format: Intl.DateTimeFormat) => (session: Session) => {
    const { name, begun_at_ms: atMs } = session;
    if (atMs === null) return session;
    return { ...session, name: `${name}, since ${format.format(atMs + (aheadOfUtc(zone, atMs) ?? 0))}` };
  };
  const named = sessions.map((session) => nameProgram(session, session.startedIn.browser));
  return tellApart(named, since(days), (alike) => tellApart(alike, since(times), number));
}

const days = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", timeZone: "UTC" });
const times = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "long",
  hour: "2-digit",
  minute: "2-digit",
  timeZone: "UTC",
});

/** Renames those of each name that is not the only one. Those that then still share a name are renamed by `orElse` instead. */
function tellApart(
  sessions: readonly Session[],
  rename: (session: Session) => Session,
  orElse: (alike: Session[]) => Session[],
): Session[] {
  const renamed = new Map<Session, Session>();
  for (const alike of Map.groupBy(sessions, ({ name }) => name).values()) {
    if (alike.length === 1) continue;
    const names = alike.map(rename);
    const areTold = new Set(names.map(({ name }) => name)).size === alike.length;
    const told = areTold ? names : orElse(alike);
    for (const [at, session] of alike.entries()) renamed.set(session, told[at] ?? session);
  }
  return sessions.map((session) => renamed.get(session) ?? session);
}

const number = (alike: Session[]) =>
  alike.map((session, at) => ({
    ...session,
    name: `${session.name}, ${alike.length - at} of ${alike.length}`,
  }));

/** For example "Token copied on 21 November". */
export function nameToken(by: "owner" | "operator", nowMs: number): string {
  const date = { day: "numeric", month: "long", timeZone: "UTC" } as const;
  return `Token ${by === "owner" ? "copied" : "from the operator"} on ${new Date(nowMs).toLocaleDateString("en-GB", date)}`;
}
