import { describe, expect, it } from "vitest";
import { dayMs } from "@/lib/config/durations";
import { BackendCaller, withBackendApi } from "@/tests/support/backend-caller";
import { startService, startStage } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { engines } from "@/tests/support/engines";
import { linesOf } from "@/tests/support/page-lines";

describe.each(engines)("the history of an owner's credits, on $name", async (engine) => {
  const stage = await startStage(engine);
  const service = await startService(await withBackendApi(stage.environment));
  const worker = await BackendCaller.add(service, "worker");
  const meter = await BackendCaller.add(service, "meter");

  let people = 0;
  const admit = async (credits: number) => {
    const email = `ceo${people++}@example.com`;
    const { id } = await service.adminJson<{ id: string }>(
      ...["account", "add", email, "--plan", "licensed", "--credits", String(credits)],
    );
    return { id, email, browser: await Browser.signIn(service, email) };
  };
  type Owner = Awaited<ReturnType<typeof admit>>;
  const write = async (caller: BackendCaller, path: string, body: object) => {
    const { status, text } = await caller.post(path, body);
    expect([status, text]).toEqual([200, text]);
    return JSON.parse(text);
  };
  const insert = (rows: string[]) =>
    stage.query(
      `INSERT INTO credit_entries (id, account_id, thousandths, reason, created_at_ms, backend_id) VALUES ${rows.join()}`,
    );
  /** What is held and the history, in lines without their times of day. */
  const read = async ({ browser }: Owner, address = "/home/billing") => {
    const { text } = await browser.open(address);
    const lines = linesOf(text).map((line) =>
      line.replace(/ \d\d:\d\d UTC(?! at)|\{page\} /, "").replace("&amp;", "&"),
    );
    const from = lines.findIndex((line) => /^### (?:Held|History)/.test(line));
    return from === -1
      ? []
      : lines.slice(
          from,
          lines.findIndex((line) => line.includes("Monthly limit")),
        );
  };
  const dayOf = (atMs: number) =>
    `${new Date(atMs).toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" })} UTC`;
  const heading = [
    "### History",
    "{Which entries} [All](/home/billing#history)[Used](/home/billing?show=used#history)[Added](/home/billing?show=added#history)",
  ];

  it("names who used them, by day and reason, and shows those that were used or added alone", async () => {
    const [owner, other] = [await admit(100), await admit(0)];
    expect(await read(other)).toEqual([]);
    const spend = (caller: BackendCaller, credits: string, reason: string) =>
      write(caller, `/v1/accounts/${owner.id}/spends`, { credits, reason });
    await spend(worker, "0.5", "A page");
    await spend(worker, "1.25", "A page");
    await spend(meter, "3", "A page");
    const film = await spend(worker, "9", "A film <b>of all</b>");
    await write(worker, `/v1/entries/${film.id}/reverse`, { credits: "4", reason: "Too long" });
    await service.adminJson("credits", "add", owner.email, "-60", "--reason", "not a backend's");
    await insert([`('earlier', '${owner.id}', -7000, 'A book', ${Date.now() - 2 * dayMs}, 'worker')`]);
    const film9 = "- A film &lt;b&gt;of all&lt;/b&gt;−9.00 · worker";
    const pages = ["- A page −3.00 · meter", "> A page −1.75 2 times · worker", "- −1.25", "- −0.50"];
    const book = [dayOf(Date.now() - 2 * dayMs), "- A book −7.00 · worker"];
    const taken = "- not a backend&#x27;s −60.00";
    const given = "- given with the account+100.00";
    const back = "- Too long+4.00 · worker";
    const today = [...heading, dayOf(Date.now())];
    expect(await read(owner)).toEqual([...today, taken, back, film9, ...pages, given, ...book]);
    const { text } = await owner.browser.open("/home/billing?show=used");
    expect(text).toContain('<a href="/home/billing?show=used#history" aria-current="page">Used</a>');
    expect(await read(owner, "/home/billing?show=used")).toEqual([
      ...[...today, taken, film9, ...pages, ...book],
    ]);
    expect(await read(owner, "/home/billing?show=added")).toEqual([
      ...[...today, back.replace("4.00", "4"), given.replace("100.00", "100")],
    ]);
    expect(await read(owner, "/home/billing?show=toString"), "no filter").toEqual(await read(owner));
    expect(text).toContain("A job took 0.5 to 7 credits.");
    expect(await read(other), "of no other owner").toEqual([]);
  });

  it("goes on by links to older ones with its filter, which looks at 2,000 entries at a time", async () => {
    const owner = await admit(0);
    const noonMs = Math.floor(Date.now() / dayMs) * dayMs - dayMs / 2;
    let written = 0;
    /** Writes entries, each a millisecond older than the one before. */
    const add = (count: number, credits: number) =>
      insert(
        Array.from({ length: count }, () => {
          const nth = written++;
          return `('${owner.id}-${nth}', '${owner.id}', ${credits * 1000}, 'Entry ${nth}', ${noonMs - nth}, NULL)`;
        }),
      );
    const pageAfter = (nth: number) => `/home/billing?show=added&before=${noonMs - nth}.0.${owner.id}-${nth}`;
    const olderThan = (nth: number) => `[Older entries](${pageAfter(nth)}#history)`;
    const latest = "[Latest entries](/home/billing?show=added#history)";
    await add(11, 1);
    const first = await read(owner, "/home/billing?show=added");
    expect(first.slice(3)).toEqual([
      ...Array.from({ length: 10 }, (_, nth) => `- Entry ${nth}+1`),
      olderThan(9),
    ]);
    expect(await read(owner, pageAfter(9))).toEqual([...heading, dayOf(noonMs), "- Entry 10+1", latest]);

    await add(1999, -1);
    await add(1, 5);
    expect(await read(owner, pageAfter(10)), "the last one is the 2,000th").toContain("- Entry 2010+5");
    expect(await read(owner, pageAfter(9)), "now it is the 2,001st").toEqual([
      ...heading,
      dayOf(noonMs),
      "- Entry 10+1",
      `${latest}${olderThan(2009)}`,
    ]);
    expect(await read(owner, pageAfter(2009))).toContain("- Entry 2010+5");
    await stage.query(`UPDATE credit_entries SET thousandths = -1000 WHERE id = '${owner.id}-10'`);
    expect((await read(owner, pageAfter(9))).slice(2)).toEqual([
      "None of the latest entries.",
      `${latest}${olderThan(2009)}`,
    ]);
    await stage.query(`UPDATE credit_entries SET thousandths = -1000 WHERE id = '${owner.id}-2010'`);
    expect((await read(owner, pageAfter(2009))).slice(2)).toEqual(["None.", latest]);
  });

  it("says what is held, by which backend, for what and until when, until the hold ends", async () => {
    const [owner, other, third] = [await admit(10), await admit(10), await admit(10)];
    const expiresInSeconds = 3600;
    const body = { credits: "2.5", reason: "A film", expiresInSeconds };
    const hold = await write(worker, `/v1/accounts/${owner.id}/holds`, body);
    await write(worker, `/v1/accounts/${third.id}/holds`, body);
    const held = async (of: Owner) => {
      const lines = await read(of);
      return lines.slice(0, lines.indexOf("### History"));
    };
    expect(await held(owner)).toEqual([
      "### Held for work that goes on",
      expect.stringMatching(/^- A film 2.5 worker, until \d+ \w+ at \d\d:\d\d UTC at the latest$/),
    ]);
    expect(await held(other)).toEqual([]);
    const exported = await service.adminJson<{ holds: object[] }>("person", "export", owner.email);
    const kept = { credits: 2.5, backend: "worker", reason: "A film", reference: null };
    const times = { createdAt: hold.createdAt, expiresAt: hold.expiresAt };
    expect(exported.holds).toEqual([{ ...kept, ...times, closedAs: null, closedAt: null }]);
    await write(worker, `/v1/holds/${hold.id}/release`, {});
    expect(await held(owner)).toEqual([]);
    const holdFilm = (n: number) =>
      write(worker, `/v1/accounts/${owner.id}/holds`, { ...body, credits: "0.5", reason: `Film ${n}` });
    for (let n = 0; n < 10; n++) await holdFilm(n);
    const most = await held(owner);
    expect(most.at(-1)).toContain("Film 9 ");
    await holdFilm(10);
    expect(await held(owner)).toEqual([...most, "The first 10 to expire; there are more."]);
  });
});
