import { settings } from "@/lib/config/settings";
import { processSingleton } from "@/lib/process-singleton";

const terminal = () => processSingleton("terminal", () => ({ showsCodes: !settings().production }));

/** Says that a person sits at the terminal of this process: the demo's. */
export function showCodesOnTerminal(): void {
  terminal().showsCodes = true;
}

/** Prints a sign-in code where a person sits at the terminal and no mail is delivered: `npm run dev` and the demo. */
export function printCode(email: string, code: string): void {
  if (!terminal().showsCodes || settings().mail.kind !== "files") return;
  process.stdout.write(`Sign-in code of ${email}: ${code}\n`);
}
