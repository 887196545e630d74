import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { marked } from "marked";
import { describe, expect, it } from "vitest";
import { documents } from "@/lib/docs/documents";
import { mcpClients } from "@/lib/docs/mcp-clients";
import { isInstalled } from "@/tests/support/databases";
import { createFolder } from "@/tests/support/leash";

/* The lines that people copy into the shell that they have: those of all documents, and those of their home. */

const { claudeCode, codex } = mcpClients("https://office.example:8443");
const copied = documents.flatMap(({ markdown }) =>
  marked.lexer(markdown()).flatMap((token) => {
    return token.type === "code" && token.lang === "console" ? token.text.split("\n") : [];
  }),
);
const lines = [...copied, claudeCode.join("; "), codex];
/** The programs that a line starts, each with its arguments. */
const callsOf = (line: string) =>
  line
    .split("; ")
    .map((call) => [...call.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word));

const programs = createFolder();
for (const name of new Set(lines.flatMap((line) => callsOf(line).map(([program = ""]) => program)))) {
  const script = `#!/bin/sh\nprintf '${name}'; printf '\\t%s' "$@"; printf '\\n'\n`;
  writeFileSync(join(programs, name), script, { mode: 0o755 });
}
const env = { PATH: `${programs}:${process.env.PATH}`, HOME: programs, NODE_ENV: "test" } as const;

it("has lines of the documents", () => {
  expect(copied.length).toBeGreaterThan(5);
});

describe.runIf(isInstalled("zsh") && isInstalled("fish")).each(["bash", "zsh", "fish"])("%s", (shell) => {
  it.each(lines)("runs %s", (line) => {
    const said = execFileSync(shell, ["-c", line], { env, encoding: "utf8" });
    expect(
      said
        .trimEnd()
        .split("\n")
        .map((call) => call.split("\t")),
    ).toEqual(callsOf(line));
  });
});

describe("PowerShell 5.1", () => {
  // about_Parsing and about_Operators: it has no `&&`; `@`, `$`, `` ` ``, `(`, `{`, `,`, `#`, `|`, `<`, `>` and `&` mean
  // something outside quotes, where `;` ends a command. It drops empty arguments and splits one that begins with `-` at
  // its first `.` or `:` (about_Parsing, Passing arguments to native commands). It runs on no system of ours, so its grammar is checked here.
  it.each(lines)("reads %s literally", (line) => {
    expect(line).toMatch(/^(?:(?:-[\w=-]+|(?!-)[\w./:=-]+|"[\w./:=@ -]+")(?:; | |$))+$/);
  });
});
