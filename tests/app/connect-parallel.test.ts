import { beforeAll, describe, expect, it } from "vitest";
import { oauthBounds } from "@/lib/config/limits";
import { startService, startStage } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { makeClock } from "@/tests/support/clock";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { mailsTo } from "@/tests/support/mailbox";
import { connectDevice } from "@/tests/support/owner";

/*
 * Agents whose sessions share one store of tokens, as those on one computer do: each has the token in memory that it last
 * read, and reads the store again only when that is refused. And someone who has copied that store.
 */

const email = "ceo@example.com";
const neighbour = "neighbour@example.com";
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const elsewhere = "127.0.9.1";
const subject = "An app of yours is used from several places";

type Tokens = { access_token: string; refresh_token: string };

describe.each(engines)("agents that share one refresh token, on $name", async (engine) => {
  const clock = makeClock();
  const stage = await startStage(engine);
  const hosted = { HOSTED_AGENT_NETWORKS: "127.20.0.0/16,127.21.0.0/16" };
  const service = await startService({ ...stage.environment, ...clock.environment, ...hosted });
  beforeAll(async () => {
    for (const who of [email, neighbour])
      await service.adminJson("account", "add", who, "--plan", "licensed");
  });

  const connect = async (who: string) => connectDevice(await Browser.signIn(service, who), service);
  const renew = (refresh_token: string, from = "127.0.0.1") =>
    service.submit(
      "/oauth/token",
      { client_id: "native", grant_type: "refresh_token", refresh_token },
      { from },
    );
  const tokensOf = ({ status, text }: { status: number; text: string }): Tokens => {
    expect(status, text).toBe(200);
    return JSON.parse(text);
  };
  const access = async (who: string) =>
    (await (await Browser.signIn(service, who)).open("/home/access")).text.replace(/<[^>]+>/g, "");
  const warnings = async (who: string) =>
    (await mailsTo(service.dataDir, who)).filter((mail) => mail.subject === subject);

  /** A session of the agent. `wake` is what it does when it is given something to do. */
  function makeSession(store: Tokens & { writes?: number }) {
    let memory: Tokens = { ...store };
    return async function wake() {
      if ((await service.statusFor(memory.access_token)) === 200) return;
      let answer = await renew(memory.refresh_token);
      if (answer.status !== 200) {
        expect(JSON.parse(answer.text).error).toBe("invalid_grant");
        answer = await renew(store.refresh_token);
      }
      memory = tokensOf(answer);
      Object.assign(store, memory);
      expect(await service.statusFor(memory.access_token)).toBe(200);
    };
  }

  it("signs none of five out while one of them works, idle between a minute and seven days", {
    timeout: 180_000,
  }, async () => {
    const store = await connect(email);
    const others = [await connect(email), await connect(neighbour)];
    let seed = 65;
    const random = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    /** As many idle for minutes as for hours and for days. */
    const idleMs = () => Math.round(minute * (7 * 24 * 60) ** random());
    const startMs = clock.now();
    const sessions = Array.from({ length: 5 }, () => ({
      wake: makeSession(store),
      atMs: startMs + idleMs(),
    }));
    let wakes = 0;
    while (clock.now() < startMs + 60 * day) {
      const first = Math.min(...sessions.map(({ atMs }) => atMs));
      clock.pass(Math.max(0, first - clock.now()));
      // Those that are due within the same second wake at once.
      const due = sessions.filter(({ atMs }) => atMs <= clock.now() + 1000);
      await Promise.all(due.map(({ wake }) => wake()));
      for (const session of due) session.atMs = clock.now() + idleMs();
      wakes += due.length;
      if (wakes % 50 === 0)
        for (const other of others) Object.assign(other, tokensOf(await renew(other.refresh_token)));
    }
    expect(wakes).toBeGreaterThan(200);
    // All at once, after each has rested.
    clock.pass(7 * day);
    await Promise.all(sessions.map(({ wake }) => wake()));
    for (const { refresh_token } of [store, ...others]) tokensOf(await renew(refresh_token));
    const page = await access(email);
    expect(page).toContain("Last seen from127.0.0.0/24");
    expect(page).not.toContain("several places");
    expect(page).not.toContain("Ended on");
    expect(await warnings(email)).toEqual([]);
  });

  it("shows the networks of a copy that is used elsewhere, marks the app, and tells its owner once", async () => {
    const store = await connect(email);
    const others = [await connect(email), await connect(neighbour)];
    const wake = makeSession(store);
    for (let round = 0; round < 6; round++) {
      clock.pass(5 * hour);
      await wake();
      clock.pass(hour);
      // In step with the agent, so no token is presented that was replaced.
      Object.assign(store, tokensOf(await renew(store.refresh_token, elsewhere)));
      if (round === 0) expect(await access(email)).not.toContain("several places");
    }
    clock.pass(2 * hour);
    await wake();
    const page = await access(email);
    expect(page).toContain("Last seen from127.0.0.0/24, 127.0.9.0/24");
    expect(page.match(/Used in several places/g)).toHaveLength(1);
    await eventually(async () => expect(await warnings(email)).toHaveLength(1));
    clock.pass(4 * day);
    for (const from of [elsewhere, "127.0.0.1", elsewhere]) {
      Object.assign(store, tokensOf(await renew(store.refresh_token, from)));
    }
    await connect(email);
    await eventually(async () => expect(await stage.query("SELECT id FROM sign_in_mails")).toEqual([]));
    expect(await warnings(email)).toHaveLength(1);
    for (const { refresh_token } of others) tokensOf(await renew(refresh_token));
    expect(await access(neighbour)).not.toContain("several places");
    expect(await warnings(neighbour)).toEqual([]);
  });

  it("has a limit of its own, and not one for all owners of the app", async () => {
    const [busy, other] = [await connect(email), await connect(neighbour)];
    let { refresh_token } = busy;
    for (let renewed = 0; renewed < oauthBounds.credentials.RefreshToken; renewed++)
      refresh_token = tokensOf(await renew(refresh_token)).refresh_token;
    const { status, text } = await renew(refresh_token);
    expect([status, JSON.parse(text).error]).toEqual([429, "temporarily_unavailable"]);
    expect((await renew(other.refresh_token)).status).toBe(200);
  });

  it("goes on while one of its sessions sends an old token again and again", async () => {
    const first = await connect(neighbour);
    const second = tokensOf(await renew(first.refresh_token));
    const { refresh_token } = tokensOf(await renew(second.refresh_token));
    clock.pass(2 * minute);
    const statuses = new Set<number>();
    for (let sent = 0; sent < 660; sent += 20) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => renew(first.refresh_token)));
      for (const { status } of answers) statuses.add(status);
    }
    expect([...statuses]).toEqual([400, 429]);
    const latest = tokensOf(await renew(refresh_token));
    expect(await service.statusFor(latest.access_token)).toBe(200);
  });

  it("takes the networks of hosted agents for one, whichever of them an agent uses", async () => {
    const first = await connect(neighbour);
    let { refresh_token } = tokensOf(await renew(first.refresh_token, "127.20.0.1"));
    for (const from of ["127.20.7.1", "127.21.0.1", "127.20.0.1", "127.21.0.1", "127.20.0.1"]) {
      refresh_token = tokensOf(await renew(refresh_token, from)).refresh_token;
    }
    clock.pass(day);
    expect((await renew(first.refresh_token, "127.21.5.1")).status, "an old one").toBe(400);
    const page = await access(neighbour);
    expect(page).toContain("Last seen fromhosted-agents, 127.0.0.0/24");
    expect(page).not.toContain("several places");
    tokensOf(await renew(refresh_token, "127.20.9.1"));
  });

  it("does not take one journey for a copy, nor a device whose address changes within its network", async () => {
    const store = await connect(neighbour);
    for (const from of ["127.0.0.1", "127.0.0.7", elsewhere, "127.0.9.7", "127.0.0.9", "127.0.0.1"]) {
      clock.pass(8 * hour);
      Object.assign(store, tokensOf(await renew(store.refresh_token, from)));
    }
    const page = await access(neighbour);
    expect(page).toContain("Last seen from127.0.0.0/24, 127.0.9.0/24");
    expect(page).not.toContain("several places");
  });
});
