import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createFolder } from "@/tests/support/leash";
import { operate } from "@/tests/support/operator";

/** How each shell is asked what may follow these words, of which the last is being typed. */
const ask: Record<string, (words: string[]) => string> = {
  bash: (words) =>
    `COMP_WORDS=(${words.join(" ")} ${words.at(-1) === "" ? "''" : ""}); COMP_CWORD=${words.length - 1}; _office_admin; printf '%s\\n' "\${COMPREPLY[@]}"`,
  // Without a terminal, zsh has no completion: what the function gives it is printed.
  zsh: (words) =>
    `compdef() { : }; compadd() { print -l -- \${(P)2} }; source "$FILE"; words=(${words.map((word) => `'${word}'`).join(" ")}); CURRENT=${words.length}; _office_admin`,
  fish: (words) => `complete -C '${words.join(" ")}' | string replace -r '\\t.*' ''; true`,
};

describe.each(["bash", "zsh", "fish"])("completion for %s", (shell) => {
  const file = join(createFolder(), `office-admin.${shell}`);
  const complete = async (...words: string[]): Promise<string[]> => {
    writeFileSync(file, (await operate(["completion", shell], {})).stdout);
    const source = shell === "zsh" ? "" : 'source "$FILE"; ';
    const script = source + ask[shell]?.(["office-admin", ...words]);
    const typed = words.at(-1) ?? "";
    const found = execFileSync(shell, ["-c", script], {
      encoding: "utf8",
      env: { ...process.env, FILE: file },
    });
    return found.split("\n").filter((word) => word !== "" && word.startsWith(typed));
  };

  it("knows the commands, their parts and their options", async () => {
    expect(await complete("")).toEqual(expect.arrayContaining(["account", "backup", "check", "completion"]));
    expect(await complete("acc")).toEqual(["account"]);
    expect((await complete("account", "")).sort()).toEqual(["add", "delete", "list", "move", "set", "show"]);
    expect(await complete("--json", "account", "s")).toEqual(expect.arrayContaining(["set", "show"]));
    expect(await complete("account", "add", "ceo@example.com", "--pl")).toEqual(["--plan"]);
    expect(await complete("check", "--js")).toEqual(["--json"]);
    expect(await complete("none", "")).toEqual([]);
  });
});
