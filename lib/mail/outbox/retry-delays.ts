import { hourMs } from "@/lib/config/durations";

const retryAfterSeconds = [1, 5, 15, 60, 120, 300];

/** How long a mail that was not sent waits after so many attempts, until its `triedUntilMs`. */
export const retryDelays = {
  /** Short at first, then beyond the five minutes of greylisting, and an hour for what is wanted for days. */
  whereOneWaits: (attempts: number) => (retryAfterSeconds[attempts - 1] ?? 3600) * 1000,
  /** 1, 3, 9, 27, 81 minutes, then four hours. */
  elsewhere: (attempts: number) => Math.min(60_000 * 3 ** (attempts - 1), 4 * hourMs),
};
