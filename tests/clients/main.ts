import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { dayMs } from "@/lib/config/durations";
import { oauthSeconds, sessionDays } from "@/lib/config/lifetimes";
import { Browser } from "@/tests/support/browser";
import { makeClock } from "@/tests/support/clock";
import { startLosingProxy } from "@/tests/support/http-proxy";
import { startOutside } from "@/tests/support/outside";
import { answerApp } from "@/tests/support/owner";
import { Service } from "@/tests/support/service";
import { layOut } from "@/tests/support/table";
import { type Client, clients, type Phase, phases, tool } from "./clients";
import { Connector, type Vendor, vendors } from "./connector";
import { Desk, maxMs } from "./desk";
import { startModel } from "./model";

/*
 * Connects third-party MCP clients from npm, each with only our address and its owner's approval: `npm run clients`, or
 * `npm run clients -- codex` for those of that name. Each calls a tool at once, after its token has expired, after an answer
 * with new tokens was lost, five times at once, after a restart of the service, and after it was idle for almost too long
 * and for too long, on the service's clock. Stand-ins do the same for two that run at their makers'. Exits 1 if one cannot.
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
  ...Object.fromEntries(vendors.map(({ document }) => [document.client_id, document])),
});

const clock = makeClock();
const clientClock = {
  ...clock.environment,
  NODE_OPTIONS: `--import ${resolve("tests/support/clock-ahead.mjs")}`,
};
const model = await startModel(tool);
const proxy = await startLosingProxy(() => service.port);
const service = await Service.start({
  ...outside.environment,
  ...clock.environment,
  NODE_OPTIONS: `${outside.environment.NODE_OPTIONS} ${clock.environment.NODE_OPTIONS}`,
  APP_URL: proxy.url,
  SIGN_IN: "local",
  RATE_LIMIT_MCP: "100000",
});
await service.adminJson("account", "add", email, "--plan", "licensed", "--credits", credits);

/** A client that its owner has set up. */
type Trial = {
  /** Has it read the balance; throws if it does not know it. */
  read: () => Promise<void>;
  /** Logs in, for a client whose users do that. */
  logIn?: () => Promise<unknown>;
  /** The ids with which its owner was asked. */
  asked: () => string[];
  asksAgain?: Client["asksAgain"];
};

/** Also past the seconds for which a clock may be behind, so that the token is refused. */
const pastToken = () => clock.pass(oauthSeconds.accessToken * 1000 + 60_000);

/** How each phase comes about, and how often a client then reads the balance at once. */
const happens: Record<Phase, { before?: () => unknown; times?: number }> = {
  signIn: {},
  hour: { before: pastToken },
  lostAnswer: {
    before: () => {
      pastToken();
      proxy.loseNext("/oauth/token");
    },
  },
  fiveAtOnce: { before: pastToken, times: 5 },
  restart: {
    before: async () => {
      await service.stop();
      await service.run();
    },
  },
  idleAndKept: { before: () => clock.pass((sessionDays.idle - 1) * dayMs) },
  idleAndEnded: { before: () => clock.pass((sessionDays.idle + 1) * dayMs) },
};
const allPhases = Object.keys(phases) as Phase[];

const [wanted = ""] = process.argv.slice(2);
const isWanted = ({ name }: { name: string }) => name.toLowerCase().includes(wanted.toLowerCase());
const rows = [["client", "version", "address", "let in by", "tool called by", ...Object.values(phases)]];
let failed = 0;
for (const client of clients.filter(isWanted)) rows.push(await tryClient(client));
for (const vendor of vendors.filter(isWanted)) rows.push(await tryVendor(vendor));
process.stdout.write(layOut(rows));
for (const { name, asksAgain = {} } of clients.filter(isWanted))
  for (const [phase, reason] of Object.entries(asksAgain))
    process.stdout.write(`${name} asks again after ${phases[phase as Phase]}, by its own doing: ${reason}\n`);
process.exit(failed > 0 ? 1 : 0);

async function tryClient({
  name,
  packages,
  path,
  caller,
  add,
  logIn,
  call,
  asksAgain = {},
}: Client): Promise<string[]> {
  const desk = await Desk.setUp(
    service,
    () => Browser.signIn(service, email),
    model.url,
    clientClock,
    packages,
  );
  const address = service.url + path;
  await add?.(desk, address);
  const outcomes = await goThrough(name, {
    async read() {
      const said = await within(call(desk, address));
      if (!said.includes(credits)) throw new Error(`it does not know the balance: ${said}`);
    },
    ...(logIn && { logIn: () => within(logIn(desk)) }),
    asked: () => desk.asked,
    asksAgain,
  });
  if (hasFailed(outcomes)) process.stderr.write(`${desk.said}\n`);
  desk.clear();
  const version = packages[0].replace(/.*@/, "");
  const called = caller === "model" ? "its model" : "a program";
  return [title(name, outcomes), version, path, describeId(desk.asked[0]), called, ...outcomes];
}

async function tryVendor(vendor: Vendor): Promise<string[]> {
  const path = "/mcp/account";
  const asked: string[] = [];
  const approve = async (address: string) => {
    asked.push(new URL(address).searchParams.get("client_id") ?? "");
    return answerApp(await Browser.signIn(service, email), service, address);
  };
  const connector = new Connector(vendor, "document", service, approve, service.url + path, clock.now);
  await connector.add();
  const outcomes = await goThrough(vendor.name, {
    async read() {
      const said = JSON.stringify(await connector.call(tool));
      if (!said.includes(credits)) throw new Error(`it does not know the balance: ${said}`);
    },
    asked: () => asked,
  });
  return [title(vendor.name, outcomes), "a stand-in", path, describeId(asked[0]), "a program", ...outcomes];
}

/** Takes a client through the phases. Returns the outcome of each, and prints why it was not the wanted one. */
async function goThrough(name: string, trial: Trial): Promise<string[]> {
  const outcomes: string[] = [];
  for (const phase of allPhases) {
    const reason = trial.asksAgain?.[phase];
    const mustAsk = Boolean(reason) || phase === "signIn" || phase === "idleAndEnded";
    try {
      const wasAsked = await goThroughPhase(trial, phase);
      if (wasAsked !== mustAsk) throw new Error(`its owner was ${wasAsked ? "" : "not "}asked`);
      outcomes.push(reason ? "asks again" : "✓");
    } catch (error) {
      outcomes.push("✗");
      process.stderr.write(`${name}, ${phases[phase]}: ${error}\n`);
    }
  }
  if (hasFailed(outcomes)) failed++;
  return outcomes;
}

/** Returns whether the owner was asked. */
async function goThroughPhase({ read, logIn, asked }: Trial, phase: Phase): Promise<boolean> {
  const { before, times = 1 } = happens[phase];
  const isFirst = phase === "signIn";
  const earlier = isFirst ? 0 : asked().length;
  await before?.();
  // Codex has logged in with the command that added our address.
  if (isFirst && asked().length === 0) await logIn?.();
  const reads = await Promise.allSettled(Array.from({ length: times }, read));
  // Its user tries again, and then logs in.
  if (reads.some(({ status }) => status === "rejected"))
    await read().catch(async (failure) => {
      if (isFirst || !logIn) throw failure;
      await logIn();
      await read();
    });
  return asked().length > earlier;
}

function hasFailed(outcomes: string[]): boolean {
  return outcomes.includes("✗");
}

function title(name: string, outcomes: string[]): string {
  return `${hasFailed(outcomes) ? "✗" : "✓"} ${name}`;
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
