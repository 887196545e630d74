import { readFileSync } from "node:fs";
import { join } from "node:path";
import { settings } from "@/lib/config/settings";
import { code } from "@/lib/docs/markdown";
import type { Operation } from "@/lib/http/register/operations";

/* Samples read the URL and the token from the environment, so that no one pastes a token into code. */

/** One call in curl, TypeScript and Python. */
export function callSamples({ access, path }: Operation): string {
  const isSigned = access === "signed link";
  const [bearerInShell, bearerInTypescript, bearerInPython] =
    access === "session"
      ? [
          ` \\\n  -H "Authorization: Bearer $CORNER_OFFICE_TOKEN"`,
          `\n  headers: { Authorization: \`Bearer \${process.env.CORNER_OFFICE_TOKEN}\` },`,
          `\nrequest.add_header("Authorization", "Bearer " + os.environ["CORNER_OFFICE_TOKEN"])`,
        ]
      : ["", "", ""];
  const curl = isSigned
    ? `-X POST "$UNSUBSCRIBE_URL"`
    : `${bearerInShell && "\\\n  "}"$CORNER_OFFICE_URL${path}"${bearerInShell}`;
  const fetched = isSigned
    ? `process.env.UNSUBSCRIBE_URL ?? "", {\n  method: "POST",`
    : `\`\${process.env.CORNER_OFFICE_URL}${path}\`, {${bearerInTypescript}`;
  const requested = isSigned
    ? `os.environ["UNSUBSCRIBE_URL"], method="POST"`
    : `os.environ["CORNER_OFFICE_URL"] + "${path}"`;
  return [
    code("sh", `curl -sS --fail-with-body ${curl}`),
    code(
      "ts",
      `
const response = await fetch(${fetched}
  redirect: "error", // no other host gets what is sent here
  signal: AbortSignal.timeout(10_000),
});
const text = await response.text();
if (response.status !== 200) throw new Error(\`\${response.status} \${text}\`); // error.hint says what to do
console.log(${isSigned ? "text" : "JSON.parse(text)"});`,
    ),
    code(
      "python",
      `
import ${isSigned ? "" : "json, "}os, urllib.error, urllib.request

class NoRedirects(urllib.request.HTTPRedirectHandler):
    redirect_request = lambda *_: None  # no other host gets what is sent here

request = urllib.request.Request(${requested})${bearerInPython}
try:
    with urllib.request.build_opener(NoRedirects).open(request, timeout=10) as response:
        status, text = response.status, response.read(65536).decode()
except urllib.error.HTTPError as refused:
    status, text = refused.code, refused.read(65536).decode()
if status != 200:
    raise SystemExit(f"{status} {text}")  # error.hint says what to do
print(${isSigned ? "text" : "json.loads(text)"})`,
    ),
  ].join("\n\n");
}

/** Reads a token without echoing it. One line, because otherwise a second pasted line would be read as the token. */
export const readToken = code("sh", "read -rs CORNER_OFFICE_TOKEN && export CORNER_OFFICE_TOKEN");

const languages = { mjs: "ts", py: "python", swift: "swift", kt: "kotlin", xml: "text" } as const;

/** The name of a program in `lib/docs/samples`. */
export type SampleFile = `${string}.${keyof typeof languages}`;

/** Programs of {@link SampleFile}s, as blocks of code with the address of this deployment. */
export function programs(...names: SampleFile[]): string {
  const blocks = names.map((name) => {
    const [, extension] = name.split(".") as [string, keyof typeof languages];
    const text = readFileSync(join(process.cwd(), "lib/docs/samples", name), "utf8");
    return code(languages[extension], text.replace("https://office.example.com", settings().appUrl));
  });
  return blocks.join("\n\n");
}
