import { describe, expect, it } from "vitest";
import { dayMs } from "@/lib/config/durations";
import { BackendCaller, withBackendApi } from "@/tests/support/backend-caller";
import { startService, startStage } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { engines } from "@/tests/support/engines";

describe.each(engines)("what used an owner's credits, on $name", async (engine) => {
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
  const write = async (caller: BackendCaller, path: string, body: object) => {
    const { status, text } = await caller.post(path, body);
    expect([status, text]).toEqual([200, text]);
    return JSON.parse(text);
  };
  /** The words of the section, a line an entry. */
  const read = async ({ browser }: { browser: Browser }) => {
    const { text } = await browser.open("/home/billing");
    const [section = ""] = /<section[^>]*aria-labelledby="spending".*?<\/section>/s.exec(text) ?? [];
    const lines = section.replaceAll(/<\/(?:h2|h3|li|p|summary)>/g, "\n").split("\n");
    return lines
      .map((line) =>
        line
          .replaceAll(/<[^>]*>/g, " ")
          .replaceAll(/\s+/g, " ")
          .trim(),
      )
      .filter(Boolean);
  };
  const dayOf = (atMs: number) =>
    `${new Date(atMs).toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" })} UTC`;

  it("is grouped by day, backend and reason, without what was given back", async () => {
    const [owner, other] = [await admit(100), await admit(100)];
    expect(await read(owner)).toEqual([]);
    const spend = (caller: BackendCaller, credits: string, reason: string) =>
      write(caller, `/v1/accounts/${owner.id}/spends`, { credits, reason });
    await spend(worker, "0.5", "A page");
    await spend(worker, "1.25", "A page");
    await spend(meter, "3", "A page");
    const film = await spend(worker, "9", "A film <b>of all</b>");
    await write(worker, `/v1/entries/${film.id}/reverse`, { credits: "4", reason: "Too long" });
    const hold = await write(worker, `/v1/accounts/${owner.id}/holds`, {
      credits: "2",
      reason: "A song",
      expiresInSeconds: 600,
    });
    await write(worker, `/v1/holds/${hold.id}/settle`, {});
    await service.adminJson("credits", "add", owner.email, "-60", "--reason", "not a backend's");
    await stage.query(
      `INSERT INTO credit_entries (id, account_id, thousandths, reason, created_at_ms, backend_id)
       VALUES ('earlier', '${owner.id}', -7000, 'A book', ${Date.now() - 2 * dayMs}, 'worker')`,
    );
    expect(await read(owner)).toEqual([
      "What used your credits",
      dayOf(Date.now()),
      "A film &lt;b&gt;of all&lt;/b&gt; 5.00 worker",
      "A page 3.00 meter",
      "A song 2.00 worker",
      "A page 1.75 worker, 2 times",
      "Show 1 earlier day",
      dayOf(Date.now() - 2 * dayMs),
      "A book 7.00 worker",
    ]);
    expect((await owner.browser.open("/home/billing")).text).toContain("A job took 0.5 to 7 credits.");
    expect(await read(other)).toEqual([]);
  });

  it("says what is held, by which backend, for what and until when, until the hold ends", async () => {
    const [owner, other, third] = [await admit(10), await admit(10), await admit(10)];
    const expiresInSeconds = 3600;
    const body = { credits: "2.5", reason: "A film", expiresInSeconds };
    const hold = await write(worker, `/v1/accounts/${owner.id}/holds`, body);
    await write(worker, `/v1/accounts/${third.id}/holds`, body);
    const [, held, line, ...rest] = await read(owner);
    expect([held, rest]).toEqual(["Held for work that goes on", []]);
    expect(line).toMatch(/^A film 2.5 worker, until \d+ \w+ at \d\d:\d\d UTC at the latest$/);
    expect(await read(other)).toEqual([]);
    const exported = await service.adminJson<{ holds: object[] }>("person", "export", owner.email);
    const kept = { credits: 2.5, backend: "worker", reason: "A film", reference: null };
    const times = { createdAt: hold.createdAt, expiresAt: hold.expiresAt };
    expect(exported.holds).toEqual([{ ...kept, ...times, closedAs: null, closedAt: null }]);
    await write(worker, `/v1/holds/${hold.id}/release`, {});
    expect(await read(owner)).toEqual([]);
    const holdFilm = (n: number) =>
      write(worker, `/v1/accounts/${owner.id}/holds`, { ...body, credits: "0.5", reason: `Film ${n}` });
    for (let n = 0; n < 10; n++) await holdFilm(n);
    const most = await read(owner);
    expect(most.at(-1)).toContain("Film 9 ");
    await holdFilm(10);
    expect(await read(owner)).toEqual([...most, "The first 10 to expire; there are more."]);
  });

  it("says how much it draws when there is more", async () => {
    const owner = await admit(10_000);
    const spend = (nth: number, reason: string) =>
      `('${reason}-${nth}', '${owner.id}', -1, '${reason}', ${Date.now() - nth * dayMs}, 'worker')`;
    const insert = (rows: string[]) =>
      stage.query(
        `INSERT INTO credit_entries (id, account_id, thousandths, reason, created_at_ms, backend_id) VALUES ${rows.join()}`,
      );
    await insert(Array.from({ length: 20 }, (_, nth) => spend(nth, "Daily")));
    expect(await read(owner)).toHaveLength(1 + 20 + 20 + 1);
    await insert([spend(20, "Daily")]);
    expect((await read(owner)).at(-1)).toBe("The latest 20; there are older ones.");
    await insert(
      Array.from({ length: 2000 }, (_, nth) => spend(0, `Page ${nth % 2}`).replace("'", `'${nth}`)),
    );
    expect(await read(owner)).toEqual([
      "What used your credits",
      dayOf(Date.now()),
      "Page 0 1 worker, 1000 times",
      "Page 1 1 worker, 1000 times",
      "Of the latest 2,000 times that credits were spent.",
    ]);
  });
});
