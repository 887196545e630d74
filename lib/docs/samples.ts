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

/** The check that an app makes before it lets the company run, with the client file next to it. */
export const entitlementCheck = [
  code(
    "ts",
    `
import { CompanyGate } from "./corner-office.mjs";

const gate = new CompanyGate(process.env.CORNER_OFFICE_URL, async () => process.env.CORNER_OFFICE_TOKEN ?? "");
const askAgainInSeconds = await gate.ask();
console.log({ mayRun: gate.mayRun(), why: gate.why, askAgainInSeconds });`,
  ),
  code(
    "python",
    `
import os
from corner_office import CompanyGate

gate = CompanyGate(os.environ["CORNER_OFFICE_URL"], lambda dead_token: os.environ["CORNER_OFFICE_TOKEN"])
ask_again_in_seconds = gate.ask()
print({"may_run": gate.may_run(), "why": gate.why, "ask_again_in_seconds": ask_again_in_seconds})`,
  ),
].join("\n\n");

/** A call that retries after `Retry-After`. */
export const callWithRetries = [
  code(
    "ts",
    `
const pause = (seconds = 0) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

/** Retries a 429, 502 or 503 up to four times, after Retry-After plus a random delay. */
async function callWithRetries(url = "", options = {}) {
  for (let attempt = 0; ; attempt++) {
    const signal = AbortSignal.timeout(10_000);
    const response = await fetch(url, { ...options, redirect: "error", signal });
    if (![429, 502, 503].includes(response.status) || attempt === 4) return response;
    const asked = Number.parseInt(response.headers.get("Retry-After") ?? "") || 0; // a date counts as none
    const waitSeconds = Math.min(Math.max(asked, 2 ** attempt), 3600);
    await pause(waitSeconds + Math.random() * (1 + waitSeconds / 10));
  }
}

const response = await callWithRetries(\`\${process.env.CORNER_OFFICE_URL}/api/health\`);
console.log(response.status, response.headers.get("RateLimit"));`,
  ),
  code(
    "python",
    `
import os, random, time, urllib.error, urllib.request

class NoRedirects(urllib.request.HTTPRedirectHandler):
    redirect_request = lambda *_: None  # no other host gets what is sent here

def call_with_retries(request):
    """Retries a 429, 502 or 503 up to four times, after Retry-After plus a random delay."""
    for attempt in range(5):
        try:
            return urllib.request.build_opener(NoRedirects).open(request, timeout=10)
        except urllib.error.HTTPError as failure:
            if failure.code not in (429, 502, 503) or attempt == 4:
                raise
            asked = failure.headers.get("Retry-After", "")[:9]
            asked_seconds = int(asked) if asked.isdecimal() else 0  # a date counts as none
            wait_seconds = min(max(asked_seconds, 2**attempt), 3600)
            time.sleep(wait_seconds + random.uniform(0, 1 + wait_seconds / 10))

with call_with_retries(os.environ["CORNER_OFFICE_URL"] + "/api/health") as response:
    print(response.status, response.headers["RateLimit"])`,
  ),
].join("\n\n");
