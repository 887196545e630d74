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

${code("sh", `(umask 077; npm run -s admin -- backend add ${backend} --may read,spend > ${backend}.pem)`)}

Fetch [the client](#the-client-files), one file:

${download(clientRoutes.typescript)}

Save this next to it as \`spend.ts\`, with the email of an account that has credits:

${code("ts", quickStart(url, backend))}

Run it, with Node 22.18 or newer; \`npx node\` is the one of the service. Elsewhere, a \`package.json\` next to it has to say \`"type": "module"\`:

${code("sh", "npx node spend.ts")}

Or in Python, with the package \`cryptography\`, as \`spend.py\`:

${download(clientRoutes.python)}

${code("python", quickStartInPython(url, backend))}

${code("sh", "python3 spend.py")}`;
}

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
