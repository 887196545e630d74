import { setTimeout as sleep } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import { Browser } from "@/tests/support/browser";
import { startOutside } from "@/tests/support/outside";
import { Service } from "@/tests/support/service";
import { type Client, clients, tool } from "./clients";
import { Desk, maxMs } from "./desk";

/*
 * Connects third-party MCP clients from npm, each with only our address and its owner's approval: `npm run clients`, or
 * `npm run clients -- codex` for those of that name. Exits 1 if one cannot connect.
 */

const email = "ceo@example.com";
/** A number that no client prints by chance. */
const credits = "48271";

/** Fakes of the documents that Claude Code and Codex publish: this needs only the npm registry of the Internet. */
const published = {
  redirect_uris: ["http://localhost/callback", "http://127.0.0.1/callback"],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
};
const claude = "https://claude.ai/oauth/claude-code-client-metadata";
const codex = "https://chatgpt.com/oauth/codex/client.json";
const outside = await startOutside({
  [claude]: { ...published, client_id: claude, client_name: "Claude Code" },
  [codex]: { ...published, client_id: codex, client_name: "Codex" },
});

const [wanted = ""] = process.argv.slice(2);
const chosen = clients.filter(({ name }) => name.toLowerCase().includes(wanted.toLowerCase()));
const service = await Service.start({
  ...outside.environment,
  SIGN_IN: "local",
  RATE_LIMIT_MCP: "100000",
});
await service.adminJson("account", "add", email, "--plan", "licensed", "--credits", credits);
const owner = await Browser.signIn(service, email);

const rows = [["client", "version", "connected", "called"]];
let failed = 0;
for (const client of chosen) rows.push(await tryOut(client));
const widths = rows[0]?.map((_, n) => Math.max(...rows.map((row) => row[n]?.length ?? 0))) ?? [];
for (const row of rows) {
  process.stdout.write(
    `${row
      .map((cell, n) => cell.padEnd(widths[n] ?? 0))
      .join("  ")
      .trimEnd()}\n`,
  );
}
process.exit(failed > 0 ? 1 : 0);

/** Tries a client, and returns its table row; prints its output if it fails. */
async function tryOut({ name, npm, program, path, isAgent, use }: Client): Promise<string[]> {
  const version = npm.replace(/.*@/, "");
  const desk = await Desk.setUp(service, owner, npm, program);
  let why = "";
  try {
    const tooLong = sleep(maxMs, "", { ref: false });
    const said = await Promise.race([use(desk, service.url + path), tooLong]);
    const isIn = isAgent
      ? /(?<!not )\bconnected\b/i.test(stripVTControlCharacters(said))
      : said.includes(credits);
    if (!isIn) why = `it is not connected, or does not know the balance: ${said}`;
  } catch (error) {
    why = String(error);
  }
  desk.clear();
  const [id] = desk.approved;
  if (!id) why ||= "nobody was asked to let it in";
  if (why) {
    failed++;
    process.stderr.write(`${name}: ${why}\n${desk.said}\n`);
  }
  return [
    `${why ? "✗" : "✓"} ${name}`,
    version,
    id ? `as ${id}` : "no",
    why ? "no" : isAgent ? "needs a model" : tool,
  ];
}
