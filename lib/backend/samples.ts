import { clientRoutes } from "@/lib/backend/addresses";
import { code } from "@/lib/docs/markdown";

/* What the document of the backend API shows, as it is printed there: tests run all of it, and so can the demo's reader. */

/** A program that spends, holds and settles, next to the client file and the key of this backend. */
export const quickStart = (url: string, backend: string) => `
import { readFileSync } from "node:fs";
import { BackendApi } from "./corner-office-backend.ts";

const key = readFileSync(new URL("${backend}.pem", import.meta.url), "utf8");
const api = new BackendApi("${url}", "${backend}", key);

for await (const account of api.accounts({ email: "licensed@example.com" })) {
  const entry = await api.spend(account.id, { credits: "0.125", reason: "A page" });
  console.log(\`spent \${-entry.credits} of \${account.balance}, \${entry.balance} are left\`);
  const hold = await api.hold(account.id, { credits: "1", reason: "A film", expiresInSeconds: 600 });
  console.log(\`\${hold.credits} is held, \${hold.balance} can be spent\`);
  const { balance } = await api.settle(hold.id, "0.4"); // what the film has cost; the rest goes back
  console.log(\`settled, \${balance} are left\`);
}
`;

/** The same in Python. */
const quickStartInPython = (url: string, backend: string) => `
from pathlib import Path
from corner_office_backend import BackendApi

api = BackendApi("${url}", "${backend}", Path("${backend}.pem").read_text())

for account in api.accounts(email="licensed@example.com"):
    entry = api.spend(account["id"], "0.125", "A page")
    print(f"spent {-entry['credits']} of {account['balance']}, {entry['balance']} are left")
    hold = api.hold(account["id"], "1", "A film", expires_in_seconds=600)
    print(f"{hold['credits']} is held, {hold['balance']} can be spent")
    settled = api.settle(hold["id"], "0.4")  # what the film has cost; the rest goes back
    print(f"settled, {settled['balance']} are left")
`;

/** From nothing to a spend, a hold and its settlement, to be pasted in the folder of the service. */
export function startLines(url: string): string {
  const backend = "worker";
  const download = ({ path }: { path: string }) => code("sh", `curl -sSO ${url}${path}`);
  return `In the folder of the service, add a backend. Its private key is printed once, and stored nowhere else:

${code("sh", `npm run -s admin -- backend add ${backend} --may read,spend > ${backend}.pem`)}

Fetch [the client](#the-client-files), one file:

${download(clientRoutes.typescript)}

Save this next to it as \`spend.ts\`, with the email of an account that has credits:

${code("ts", quickStart(url, backend))}

Run it, with Node 22.18 or newer; \`npx node\` is the one of the service:

${code("sh", "npx node spend.ts")}

Or in Python, with the package \`cryptography\`, as \`spend.py\`:

${download(clientRoutes.python)}

${code("python", quickStartInPython(url, backend))}

${code("sh", "python3 spend.py")}`;
}

/** What else the client files do. */
export const clientLines = [
  code(
    "ts",
    `
import { Outage, Refused } from "./corner-office-backend.ts";

const [account] = await Array.fromAsync(api.accounts({ email: "licensed@example.com" }));

// Holds while some work lasts. What it has used is spent, also if it throws; the rest goes back.
const film = { credits: "1", reason: "A film", expiresInSeconds: 600 };
await api.whileHolding(account.id, film, async (hold) => {
  hold.used = "0.4";
});

// A key that you can make again finds the first answer, also after your program has ended.
try {
  await api.spend(account.id, { credits: "0.125", reason: "A page", reference: "job 7" }, "job 7");
} catch (failure) {
  if (failure instanceof Refused) console.log(failure.code, failure.answer.balance); // nothing was spent
  else if (failure instanceof Outage) console.log("not known yet: call again later with", failure.key);
  else throw failure;
}

// The spends of a minute in one request. Each has its own result: an entry, or an error.
const spends = ["A", "B"].map((reason) => ({ account: account.id, credits: "0.5", reason }));
for (const result of await api.spendEach(spends)) console.log("error" in result ? result.error.code : result.id);

// What came since the last entry that you have seen.
let last = "";
for await (const entry of api.entries({ account: account.id, after: last })) last = entry.id;

// What each plan allows; no such name, and null, is no limit. An account and a check have the same fields.
for await (const { name, limits } of api.plans()) console.log(name, limits.projects ?? "without a limit");

// Whether the owner of a session token may run, and a spend in the same step if they may.
const checked = await api.check(process.env.CORNER_OFFICE_TOKEN ?? "", { spend: { credits: "0.1", reason: "A page" } });
console.log(checked.ok ? checked.entry?.balance : checked.message);`,
  ),
  code(
    "python",
    `
import os
from corner_office_backend import Outage, Refused

account = next(api.accounts(email="licensed@example.com"))

# Holds for a block. What it has used is spent, also if it raises; the rest goes back.
with api.holding(account["id"], "1", "A film", expires_in_seconds=600) as hold:
    hold["used"] = "0.4"

# A key that you can make again finds the first answer, also after your program has ended.
try:
    api.spend(account["id"], "0.125", "A page", reference="job 7", key="job 7")
except Refused as refused:  # nothing was spent
    print(refused.code, refused.answer.get("balance"))
except Outage as outage:
    print("not known yet: call again later with", outage.key)

# The spends of a minute in one request. Each has its own result: an entry, or an error.
spends = [{"account": account["id"], "credits": "0.5", "reason": reason} for reason in ("A", "B")]
for result in api.spend_each(spends):
    print(result["error"]["code"] if "error" in result else result["id"])

# What came since the last entry that you have seen.
last = ""
for entry in api.entries(account["id"], after=last):
    last = entry["id"]

# What each plan allows; no such name, and None, is no limit. An account and a check have the same fields.
for plan in api.plans():
    limit = plan["limits"].get("projects")
    print(plan["name"], "without a limit" if limit is None else limit)

# Whether the owner of a session token may run, and a spend in the same step if they may.
checked = api.check(os.environ.get("CORNER_OFFICE_TOKEN", ""), spend={"credits": "0.1", "reason": "A page"})
print(checked["entry"]["balance"] if checked["ok"] else checked["message"])`,
  ),
];

/** A request that a shell signs, as any language can. */
export const signedByHand = (url: string) =>
  code(
    "sh",
    `
encode() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }
expires=$(($(date +%s) + 60))
text=$(printf '{"alg":"EdDSA"}' | encode).$(printf '{"iss":"worker","aud":"${url}","exp":%d}' $expires | encode)
printf %s "$text" > text
signature=$(openssl pkeyutl -sign -inkey worker.pem -rawin -in text | encode)
curl -sS -i -H "Authorization: Bearer $text.$signature" ${url}/v1/accounts?limit=1`,
  );

/** A spend and its answer on the wire. */
export const exchange = (url: string) =>
  code(
    "http",
    `
POST /v1/accounts/acc_example/spends HTTP/1.1
Host: ${new URL(url).host}
Authorization: Bearer <assertion>
Idempotency-Key: 0b8f6a3e-5f0c-4a53-9d0c-2f1f5f7f3b10
Content-Type: application/json

{"credits":"0.125","reason":"A page"}

HTTP/1.1 200 OK
Content-Type: application/json

{"id":"5f2c9c1e-6f0e-4c8e-9d55-0a4b7f1c2d9e","account":"acc_example","credits":-0.125,"createdAt":"2026-11-25T09:30:00.000Z","balance":9.875}`,
  );
