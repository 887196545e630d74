import { clearCookie, readCookie, writeCookie } from "@/lib/http/cookies";

/** How the pages look: as the system does, or always light or dark. */
export const appearances = ["system", "light", "dark"] as const;
export type Appearance = (typeof appearances)[number];

export const appearanceSeconds = 365 * 24 * 60 * 60; // a year

/** What was chosen in this browser; the system's if nothing was. */
export function readAppearance(headers: Pick<Headers, "get">): Appearance {
  const chosen = readCookie(headers, "office-look");
  return appearances.find((appearance) => appearance === chosen) ?? "system";
}

/** The `Set-Cookie` that records the choice. */
export function chooseAppearance(appearance: Appearance): string {
  if (appearance === "system") return clearCookie("office-look");
  return writeCookie("office-look", appearance, appearanceSeconds);
}
