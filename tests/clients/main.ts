import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { lifetimes } from "@/lib/oauth/lifetimes";
import { Browser } from "@/tests/support/browser";
import { makeClock } from "@/tests/support/clock";
import { startOutside } from "@/tests/support/outside";
import { Service } from "@/tests/support/service";
import { type Client, clients, tool } from "./clients";
import { Desk, maxMs } from "./desk";
import { startModel } from "./model";

/*
 * Connects third-party MCP clients from npm, each with only our address and its owner's approval: `npm run clients`, or
 * `npm run clients -- codex` for those of that name. Each calls a tool, at once and after its token has expired. Exits 1 if
 * one cannot.
 */

const email = "ceo@example.com";
/** A number that no client prints by chance. */
const credits = "48271";

/** Fakes of the documents that agents publish: this needs only the npm registry of the Internet. */
const published = {
  redirect_uris: ["http://localhost/callback", "http://127.0.0.1/callback"],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
};
const claude = "https://claude.ai/oauth/claude-code-client-metadata";
const codex = "https://chatgpt.com/oauth/codex/client.json";
const copilot = "https://github.com/copilot/cli/client-metadata.json";
const outside = await startOutside({
  [claude]: { ...published, client_id: claude, client_name: "Claude Code" },
  [codex]: { ...published, client_id: codex, client_name: "Codex" },
  [copilot]: { ...published, client_id: copilot, client_name: "GitHub Copilot CLI" },
});

const [wanted = ""] = process.argv.slice(2);
const chosen = clients.filter(({ name }) => name.toLowerCase().includes(wanted.toLowerCase()));
const clock = makeClock();
const clientClock = {
  ...clock.environment,
  NODE_OPTIONS: `--import ${resolve("tests/support/clock-ahead.mjs")}`,
};
const model = await startModel(tool);
const service = await Service.start({
  ...outside.environment,
  ...clock.environment,
  NODE_OPTIONS: `${outside.environment.NODE_OPTIONS} ${clock.environment.NODE_OPTIONS}`,
  SIGN_IN: "local",
});
await service.adminJson("account", "add", email, "--plan", "licensed", "--credits", credits);
const owner = await Browser.signIn(service, email);

const rows = [["client", "version", "address", "let in by", "tool called by", "result", "after an hour"]];
let failed = 0;
for (const client of chosen) rows.push(await tryOut(client));
const widths = rows[0]?.map((_, n) => Math.max(...rows.map((row) => row[n]?.length ?? 0))) ?? [];
for (const row of rows) {
  const line = row.map((cell, n) => cell.padEnd(widths[n] ?? 0)).join("  ");
  process.stdout.write(`${line.trimEnd()}\n`);
}
process.exit(failed > 0 ? 1 : 0);

/** Tries a client, and returns its table row; prints its output if it fails. */
async function tryOut({ name, packages, path, caller, connect, call }: Client): Promise<string[]> {
  const desk = await Desk.setUp(service, owner, model.url, clientClock, packages);
  const address = service.url + path;
  const read = async () => {
    const said = await within(call(desk, address));
    if (!said.includes(credits)) throw new Error(`it does not know the balance: ${said}`);
    return `${credits} credits`;
  };
  let result = "";
  let later = "";
  let why = "";
  try {
    if (connect) await within(connect(desk, address));
    result = await read();
    if (desk.approved.length === 0) throw new Error("its owner was not asked");
    const before = desk.approved.length;
    clock.pass(lifetimes.accessToken * 1000 + 1);
    await read();
    later = desk.approved.length === before ? "renewed" : "asked its owner again";
  } catch (error) {
    failed++;
    why = String(error);
    process.stderr.write(`${name}: ${why}\n${desk.said}\n`);
  }
  desk.clear();
  return [
    `${why ? "✗" : "✓"} ${name}`,
    packages[0].replace(/.*@/, ""),
    path,
    describeId(desk.approved[0]),
    caller === "model" ? "its model" : "a program",
    result || "failed",
    later || "failed",
  ];
}

function describeId(id = "nothing"): string {
  if (id.startsWith("https://")) return `its metadata document ${id}`;
  return id.startsWith("app_") ? "registration" : id;
}

/** Waits for a client's work, for its timeout at most. */
async function within<T>(work: Promise<T>): Promise<T> {
  const tooLong = sleep(maxMs, undefined, { ref: false }).then(() => Promise.reject(new Error("timeout")));
  return Promise.race([work, tooLong]);
}
