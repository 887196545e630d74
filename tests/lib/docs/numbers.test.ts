import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { emailChangeMs } from "@/lib/accounts/email-change";
import { ceremonyMs } from "@/lib/auth/passkeys/passkey-ceremony";
import { sessionTokenSeconds } from "@/lib/auth/sessions/browser-session";
import { programTokenSeconds } from "@/lib/auth/sessions/session";
import { describeSeconds } from "@/lib/config/durations";
import {
  codeMinutes,
  invitationDays,
  longCodeHours,
  oauthSeconds,
  sessionDays,
} from "@/lib/config/lifetimes";
import { proofBounds } from "@/lib/config/limits";
import { findDocument } from "@/lib/docs/documents";
import { knownSeconds } from "@/lib/http/known-browser";
import { recheckAfterSeconds } from "@/lib/plans/entitlement";

/* What READMEs and documents say in figures, beside the constants that the figures stand for. */

const minutes = (seconds: number) => `${seconds / 60} minutes`;
const { idle, app, browser } = sessionDays;

/** A table's row by the beginning of its first cell, and what one of its cells has to say. */
const cells: [row: string, column: number, says: string][] = [
  ["a browser's `__session`", 2, describeSeconds(sessionTokenSeconds)],
  ["a browser's renewing", 2, `${idle} days without use, ${browser} at most`],
  ["a known browser's", 2, describeSeconds(knownSeconds)],
  ["a token for a program", 2, describeSeconds(programTokenSeconds)],
  ["an app's access token", 2, describeSeconds(oauthSeconds.accessToken)],
  ["an app's refresh token", 2, `${idle} days without use, ${app} at most`],
  ["a proof of a key", 2, describeSeconds(proofBounds.ageSeconds)],
  ["an app's code", 2, describeSeconds(oauthSeconds.code)],
  ["a link to an approval", 2, `${oauthSeconds.request / 60} and ${minutes(oauthSeconds.deviceCode)}`],
  ["a six-digit sign-in code", 2, `${codeMinutes} minutes; ${longCodeHours} hours`],
  ["a passkey's answer", 2, describeSeconds(ceremonyMs / 1000)],
  ["the link of an invitation", 2, `${invitationDays} days`],
  ["a link of a change of email", 2, describeSeconds(emailChangeMs / 1000)],
  ["– sign-in codes", 1, `(${codeMinutes} minutes, long ones ${longCodeHours} hours)`],
  [
    "– passkey challenges, pending approvals",
    1,
    `(${ceremonyMs / 60_000} and ${minutes(oauthSeconds.request)})`,
  ],
  ["– known browsers", 1, `(${describeSeconds(knownSeconds)})`],
];

/** "five minutes", "an hour" and their like, in figures. */
const inFigures = (text: string) =>
  text.replace(/\bfive (?=minutes)/, "5 ").replace(/\ban? (?=minute|hour|day)/, "1 ");

describe("lib/admin/README.md", () => {
  const rows = readFileSync("lib/admin/README.md", "utf8")
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim().replace(/\s+/g, " ")));

  it.each(cells)("says of %s in column %i: %s", (row, column, says) => {
    const found = rows.filter(([, first]) => first?.startsWith(row));
    expect(found).toHaveLength(1);
    expect(inFigures(found[0]?.[column + 1] ?? "")).toContain(says);
  });
});

const { min, max } = recheckAfterSeconds;

const sentences: [path: Parameters<typeof findDocument>[0], says: string][] = [
  ["/docs/api/limits", `a random value from ${min} to ${max}`],
  ["/docs/client", `until the last yes expires, ${minutes(max)} at most`],
  ["/docs/plans", `within \`recheckAfterSeconds\`, ${minutes(max)} at most`],
  ["/docs/api", `within \`recheckAfterSeconds\`, ${minutes(max)} at most`],
  ["/docs/connect", `at least once in ${idle} days, for ${app} days at most`],
  ["/docs/connect/terminal", `within ${describeSeconds(oauthSeconds.deviceCode)}`],
];

describe("the documents", () => {
  it.each(sentences)("%s says: %s", (path, says) => {
    expect(findDocument(path)?.markdown()).toContain(says);
  });
});
