import { createInterface } from "node:readline/promises";
import { isKeptByNpm, writeBehindDashes } from "@/lib/admin/kept-by-npm";
import { ApiError } from "@/lib/http/errors";
import { toPrintable } from "@/lib/runtime/printable";

/**
 * Says what a command will do and asks for it, or does not ask with `--yes`. Throws an {@link ApiError} without a yes,
 * and where there is no terminal to ask at.
 */
export type Confirm = (consequence: string) => Promise<void>;

/** Asks at the terminal. */
export async function askToConfirm(consequence: string): Promise<void> {
  if (!process.stdin.isTTY) {
    throw new ApiError("invalid_request", {
      message: `${consequence} Nothing was changed.`,
      hint: isKeptByNpm("yes")
        ? `npm has kept --yes for itself. ${writeBehindDashes}`
        : "Repeat it with --yes to do it without being asked.",
    });
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const closed = new Promise<string>((resolve) => terminal.once("close", () => resolve("")));
  const answer = await Promise.race([terminal.question(`${toPrintable(consequence)} Go on? [y/N] `), closed]);
  terminal.close();
  if (/^y(es)?$/i.test(answer.trim())) return;
  throw new ApiError("invalid_request", { message: "Nothing was changed.", hint: "You did not confirm it." });
}
