import { settings } from "@/lib/config/settings";
import { perProcess } from "@/lib/per-process";

const terminal = perProcess("terminal", () => ({ showsCodes: !settings().production }));

/** Prints codes on the terminal of this process, also in production: the demo calls it. */
export function showCodesOnTerminal(): void {
  terminal().showsCodes = true;
}

/** Prints a sign-in code if no mail is delivered and a person sits at the terminal: in `npm run dev` and the demo. */
export function printCode(email: string, code: string): void {
  if (!terminal().showsCodes || settings().mail.kind !== "files") return;
  const line = `Sign-in code of ${email}: ${code}`;
  process.stdout.write(process.stdout.isTTY ? `\n\u001b[1;7m ${line} \u001b[0m\n\n` : `\n${line}\n\n`);
}
