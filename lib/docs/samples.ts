import { code } from "@/lib/docs/markdown";
import type { Operation } from "@/lib/http/operations";

/*
 * Samples read the URL and the token from the environment, so that no one pastes a token into code.
 * `tests/lib/docs/samples.test.ts` runs each of them as it is.
 */

/** One call in curl, TypeScript and Python. */
export function callSamples(operation: Operation): string {
  return [curl(operation), typescript(operation), python(operation)].join("\n\n");
}

function curl({ access, path }: Operation): string {
  if (access === "signed link") return code("sh", `curl -sS --fail-with-body -X POST "$UNSUBSCRIBE_URL"`);
  const header = access === "session" ? ` \\\n  -H "Authorization: Bearer $CORNER_OFFICE_TOKEN"` : "";
  return code(
    "sh",
    `curl -sS --fail-with-body${access === "session" ? " \\\n  " : " "}"$CORNER_OFFICE_URL${path}"${header}`,
  );
}

function typescript({ access, path }: Operation): string {
  if (access === "signed link") {
    return code(
      "ts",
      `
const response = await fetch(process.env.UNSUBSCRIBE_URL ?? "", { method: "POST" });
if (!response.ok) {
  const { error } = await response.json();
  throw new Error(\`\${error.code}: \${error.message} \${error.hint}\`);
}
console.log(await response.text());`,
    );
  }
  const url = `\`\${process.env.CORNER_OFFICE_URL}${path}\``;
  const options = `, {
  headers: { Authorization: \`Bearer \${process.env.CORNER_OFFICE_TOKEN}\` },
}`;
  return code(
    "ts",
    `
const response = await fetch(${url}${access === "session" ? options : ""});
const answer = await response.json();
if (!response.ok) throw new Error(\`\${answer.error.code}: \${answer.error.message} \${answer.error.hint}\`);
console.log(answer);`,
  );
}

function python({ access, path }: Operation): string {
  const url =
    access === "signed link"
      ? `os.environ["UNSUBSCRIBE_URL"], method="POST"`
      : `os.environ["CORNER_OFFICE_URL"] + "${path}"`;
  const header =
    access === "session"
      ? `\nrequest.add_header("Authorization", "Bearer " + os.environ["CORNER_OFFICE_TOKEN"])`
      : "";
  const read = access === "signed link" ? "response.read().decode()" : "json.load(response)";
  return code(
    "python",
    `
import json, os, urllib.error, urllib.request

request = urllib.request.Request(${url})${header}
try:
    with urllib.request.urlopen(request, timeout=10) as response:
        print(${read})
except urllib.error.HTTPError as failure:
    error = json.load(failure)["error"]
    raise SystemExit(f"{error['code']}: {error['message']} {error['hint']}")`,
  );
}

/** Reads a token without echoing it. One line, because otherwise a second pasted line would be read as the token. */
export const readToken = code("sh", "read -rs CORNER_OFFICE_TOKEN && export CORNER_OFFICE_TOKEN");

/** The check that an app makes before it lets the company run, in TypeScript (which is JavaScript too) and Python. */
export const entitlementCheck = [
  code(
    "ts",
    `
/** Only a 200 with ok: true means that the company may run. Only a 401 or a 403 means that it may not. */
async function checkEntitlement() {
  try {
    const response = await fetch(\`\${process.env.CORNER_OFFICE_URL}/api/entitlement\`, {
      headers: { Authorization: \`Bearer \${process.env.CORNER_OFFICE_TOKEN}\` },
      signal: AbortSignal.timeout(10_000),
    });
    const answer = JSON.parse(await response.text());
    if (answer.ok) return { mayRun: "yes", askAgainInSeconds: answer.recheckAfterSeconds };
    const isNo = [401, 403].includes(response.status);
    const askAgainInSeconds = Number(response.headers.get("Retry-After") ?? 600) + Math.random() * 5;
    return { mayRun: isNo ? "no" : "unknown", code: answer.error.code, askAgainInSeconds };
  } catch {
    return { mayRun: "unknown", code: "unreachable", askAgainInSeconds: 30 + Math.random() * 5 };
  }
}

console.log(await checkEntitlement());`,
  ),
  code(
    "python",
    `
import json, os, random, urllib.error, urllib.request

def check_entitlement():
    """Only a 200 with ok: true means that the company may run. Only a 401 or a 403 means that it may not."""
    request = urllib.request.Request(os.environ["CORNER_OFFICE_URL"] + "/api/entitlement")
    request.add_header("Authorization", "Bearer " + os.environ["CORNER_OFFICE_TOKEN"])
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return {"may_run": "yes", "ask_again_in_seconds": json.load(response)["recheckAfterSeconds"]}
    except urllib.error.HTTPError as refused:
        answer = "no" if refused.code in (401, 403) else "unknown"
        wait_seconds = int(refused.headers.get("Retry-After", 600)) + random.uniform(0, 5)
        return {"may_run": answer, "code": json.load(refused)["error"]["code"], "ask_again_in_seconds": wait_seconds}
    except (OSError, ValueError):
        return {"may_run": "unknown", "code": "unreachable", "ask_again_in_seconds": random.uniform(30, 35)}

print(check_entitlement())`,
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
    const response = await fetch(url, options);
    if (![429, 502, 503].includes(response.status) || attempt === 4) return response;
    const waitSeconds = Number(response.headers.get("Retry-After") ?? 2 ** attempt);
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

def call_with_retries(request):
    """Retries a 429, 502 or 503 up to four times, after Retry-After plus a random delay."""
    for attempt in range(5):
        try:
            return urllib.request.urlopen(request, timeout=10)
        except urllib.error.HTTPError as failure:
            if failure.code not in (429, 502, 503) or attempt == 4:
                raise
            wait_seconds = int(failure.headers.get("Retry-After", 2**attempt))
            time.sleep(wait_seconds + random.uniform(0, 1 + wait_seconds / 10))

with call_with_retries(os.environ["CORNER_OFFICE_URL"] + "/api/health") as response:
    print(response.status, response.headers["RateLimit"])`,
  ),
].join("\n\n");
