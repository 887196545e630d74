import { describe, expect, it } from "vitest";
import { startService, startStage } from "@/tests/support/block";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { EventReceiver } from "@/tests/support/event-receiver";
import { OfficeBrowser } from "@/tests/support/office-browser";
import { reservePort } from "@/tests/support/port";

describe.each(engines)("the office's page of webhooks, on $name", async (engine) => {
  const stage = await startStage(engine, { isAlone: true });
  const OFFICE_PORT = String(await reservePort());
  const service = await startService({ ...stage.environment, OFFICE_PORT });
  const ann = await OfficeBrowser.enrol(service, "ann");
  const secretIn = (text: string) => /<code>(whsec_[\w+/]{43}=)<\/code>/.exec(text)?.[1];

  it("adds a webhook and shows its secret once, tests, rotates and removes it", async () => {
    const receiver = await EventReceiver.start();
    const added = await ann.submit("/webhooks/add", {
      url: receiver.url,
      events: "account.created\nhold.expired",
    });
    expect([added.status, added.headers["cache-control"]]).toEqual([200, "no-store, no-transform"]);
    expect(added.text).toContain("It is shown this once.");
    receiver.secret = secretIn(added.text);
    const [{ id = "" } = {}] = await service.adminJson<{ id: string }[]>("webhook", "list");
    const listed = (await ann.open("/webhooks")).text;
    for (const words of [receiver.url, id, "Account created, Hold expired", "works"])
      expect(listed).toContain(words);
    expect(listed).not.toContain("whsec_");

    const tested = await ann.submit("/webhooks/test", { webhook: id });
    expect(tested.text).toContain("The receiver accepted the test");
    expect(receiver.received).toMatchObject([{ type: "webhook.test" }]);
    receiver.respond = (_, response) => response.writeHead(500).end("<b>no</b>");
    const refused = await ann.submit("/webhooks/test", { webhook: id });
    expect(refused.text).toContain("The receiver did not accept the test");
    expect(refused.text).toContain("<bdi>500: &lt;b&gt;no&lt;/b&gt;</bdi>");

    const rotated = await ann.submit("/webhooks/rotate", { webhook: id });
    expect(secretIn(rotated.text)).not.toBe(receiver.secret);
    const removed = await ann.submit("/webhooks/remove", { webhook: id });
    expect(removed.headers.location).toBe("/webhooks?done=remove");
    expect((await ann.open("/webhooks")).text).not.toContain(id);
    const audit = await service.adminJson<{ who: string; what: string; whom: string }[]>("audit", "list");
    expect(audit.filter(({ whom }) => whom === id)).toMatchObject([
      { who: "operator ann", what: "webhook remove" },
      { who: "operator ann", what: "webhook rotate" },
      { who: "operator ann", what: "webhook add" },
    ]);
    await receiver.stop();
  });

  it("shows the last deliveries with what the receiver said, and sends one or all again", async () => {
    const receiver = await EventReceiver.start();
    const { id } = await service.adminJson<{ id: string }>("webhook", "add", receiver.url);
    receiver.respond = (_, response) => response.writeHead(503).end("<i>later</i>");
    const { id: account } = await service.adminJson<{ id: string }>("account", "add", "ceo@example.com");
    const deliveries = async () => (await ann.open(`/webhooks?webhook=${id}`)).text;
    await eventually(async () => {
      const text = await deliveries();
      for (const words of [account, "account.created", "waiting, 1 attempt", "<bdi>503: &lt;i&gt;later"])
        expect(text).toContain(words);
      expect(text).toMatch(/failing since <time/);
    });
    receiver.recover();
    const event = String(receiver.received[0]?.id);
    const again = await ann.submit("/webhooks/resend", { webhook: id, event });
    expect(again.headers.location).toBe("/webhooks?done=resend");
    await eventually(async () => expect(await deliveries()).toContain("delivered, 1 attempt"));
    expect(await deliveries()).toMatch(/works(?:<!-- -->)?, last delivery <time/);
    const before = receiver.received.length;
    await ann.submit("/webhooks/resend", { webhook: id, since: "2026-01-01T00:00" });
    await eventually(() =>
      expect(receiver.received.slice(before)).toContainEqual(expect.objectContaining({ id: event })),
    );
    await receiver.stop();
  });

  it("is in Today while nothing is sent: a webhook that was stopped, until a test is accepted", async () => {
    const receiver = await EventReceiver.start();
    const { id } = await service.adminJson<{ id: string }>("webhook", "add", receiver.url);
    receiver.respond = (_, response) => response.writeHead(503).end();
    const { id: account } = await service.adminJson<{ id: string }>("account", "add", "cto@example.com");
    const state = async () =>
      (await service.adminJson<{ id: string; state: string }[]>("webhook", "list")).find(
        (one) => one.id === id,
      )?.state;
    const heading = "<h2>Nothing is sent to these webhooks</h2>";
    await eventually(async () => expect(await state()).toBe("failing"));
    expect((await ann.open("/today")).text).not.toContain(heading);
    await stage.query("UPDATE webhook_deliveries SET next_at_ms = 0");
    await stage.query("UPDATE webhooks SET version = version + 1");
    receiver.respond = (_, response) => response.writeHead(410).end();
    await eventually(async () => expect(await state()).toBe("stopped"));
    const { text } = await ann.open("/today");
    for (const words of [heading, receiver.url, "stopped", `href="/webhooks?webhook=${id}"`])
      expect(text).toContain(words);
    receiver.recover();
    const tested = await ann.submit("/webhooks/test", { webhook: id });
    expect(tested.text).toContain("The receiver accepted the test");
    expect((await ann.open("/today")).text).not.toContain(heading);
    await eventually(() => expect(receiver.received.at(-1)).toMatchObject({ account }));
    await service.admin("webhook", "remove", id);
    await receiver.stop();
  });

  it("says what to do where no secret can be opened, and delivers what waits with a new one", async () => {
    const receiver = await EventReceiver.start();
    const { id } = await service.adminJson<{ id: string }>("webhook", "add", receiver.url);
    await eventually(async () => {
      const [row] = await stage.query(`SELECT lease_by FROM webhooks WHERE id = '${id}'`);
      expect(row?.lease_by).not.toBeNull();
    });
    await stage.query(
      `UPDATE webhooks SET sealed_secret = 'of another', version = version + 1 WHERE id = '${id}'`,
    );
    const { id: account } = await service.adminJson<{ id: string }>("account", "add", "waits@example.com");
    for (const page of ["/webhooks", "/today"]) expect((await ann.open(page)).text).toContain("locked");
    const tested = await ann.submit("/webhooks/test", { webhook: id });
    expect(tested.status).toBe(400);
    expect(tested.text).toContain("encrypted with another APP_SECRET, so nothing is sent to it.");
    expect(tested.text).toContain("Set that as APP_SECRET_PREVIOUS");
    expect(receiver.received).toEqual([]);
    receiver.secret = secretIn((await ann.submit("/webhooks/rotate", { webhook: id })).text);
    await eventually(() => expect(receiver.received).toContainEqual(expect.objectContaining({ account })));
    expect(receiver.faults).toEqual([]);
    await service.admin("webhook", "remove", id);
    await receiver.stop();
  });

  it("refuses what is no receiver, no event, no time and no webhook", async () => {
    for (const [path, fields, words] of [
      ["/webhooks/add", { url: "http://systems.example.com/" }, "must be https"],
      [
        "/webhooks/add",
        { url: "https://systems.example.com/", events: "account.typo" },
        "The events are account.created,",
      ],
      ["/webhooks/resend", { webhook: "wh_none" }, "Choose the time since when all is sent again."],
      ["/webhooks/resend", { webhook: "wh_none", since: "2026-01-01T00:00" }, "There is no such webhook."],
      ["/webhooks/test", { webhook: "wh_none" }, "There is no such webhook."],
      ["/webhooks/remove", { webhook: "wh_none" }, "There is no such webhook."],
    ] as const) {
      const { status, text } = await ann.submit(path, fields);
      expect(status, path).toBeGreaterThanOrEqual(400);
      expect(text).toContain(words);
      expect(text, "no command of the shell").not.toContain("webhook list");
    }
  });
});
