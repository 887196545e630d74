import { maxTries, type RequestedCode } from "@/lib/auth/codes/sign-in-code";
import type { Problem } from "../problem";

/** What the page for an email explains, mostly why a code no longer works. */
export const problems: Record<string, Problem> = {
  expired: { words: "That code has expired. Request a new one." },
  tries: { words: "That was the fifth wrong try; this code no longer works. Request a new one." },
  used: { words: "That code was already used. Request a new one." },
  longer: { words: "Someone is guessing at codes, so they are longer for now. Request a new one." },
  unasked: { words: "This browser has not requested a code yet. Request one here." },
  gone: {
    words: "The account that you used in this browser was deleted. To come back, join the waitlist.",
  },
  ended: { words: "Your session has ended. Sign in again." },
};

type CodeShape = Pick<RequestedCode, "isLong" | "characters">;

/** What the page for a code explains, while it can be tried again: `left` more times. */
export function problemsOf({ isLong, characters }: CodeShape, left: number): Record<string, Problem> {
  const shape = isLong
    ? "The long code has twelve letters and digits"
    : `The code has ${characters === 6 ? "six digits" : "eight letters and digits"}`;
  const isSound = Number.isInteger(left) && left > 0 && left < maxTries;
  const tries = left === 1 ? "one more try" : `${isSound ? left : "a few"} more tries`;
  return {
    form: { words: `${shape}. Check it and try again: this did not count as a try.`, isTyped: true },
    wrong: { words: `That code is not correct. You have ${tries}.`, isTyped: true },
  };
}
