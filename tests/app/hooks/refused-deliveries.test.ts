import { describe, expect, it, onTestFinished } from "vitest";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { OfficeBrowser } from "@/tests/support/office-browser";
import { reservePort } from "@/tests/support/port";
import { openShop } from "@/tests/support/shop";

const event = { id: "evt_1", object: "event", type: "customer.created", data: { object: {} } };

describe.each(engines)("deliveries of a provider on $name", (engine) => {
  it("that another secret signed are a line, a figure, a fault of 'check' and a block of Today, until one is accepted", async () => {
    const shop = await openShop(engine, {
      METRICS_PORT: String(await reservePort()),
      OFFICE_PORT: String(await reservePort()),
    });
    onTestFinished(() => shop.close());
    const { service, stripe } = shop;
    const check = async () => {
      const { stdout } = await service.admin("--json", "check");
      return (JSON.parse(stdout) as { what: string }[]).find(({ what }) => what === "deliveries");
    };
    const post = (headers = {}) =>
      service.ask("/hooks/stripe", { method: "POST", body: JSON.stringify(event), headers });

    expect((await post()).status).toBe(400);
    expect((await post({ "stripe-signature": "nonsense" })).status).toBe(400);
    expect(await check(), "a stranger's").toMatchObject({
      level: "fine",
      detail: "of providers: none was refused since one was accepted",
    });
    const rotated = { signedWith: "whsec_rotated_at_stripe" };
    for (let n = 0; n < 3; n++) expect((await stripe.deliver(service, event, rotated)).status).toBe(400);
    await eventually(async () =>
      expect(await check()).toMatchObject({
        level: "fault",
        detail: expect.stringMatching(
          /^\/hooks\/stripe refused a delivery 20\S+Z, signed with another secret, and never accepted any$/,
        ),
        remedy:
          "Compare the signing secret at the provider with the setting of this service. If they are the same, someone else sent it.",
      }),
    );
    const operator = await OfficeBrowser.enrol(service, "ann");
    expect((await operator.open("/today")).text).toContain(
      "<h2>Deliveries are refused</h2><p>/hooks/stripe refused",
    );
    const lines = () => service.log.split("\n").filter((line) => line.includes("a delivery was refused"));
    await eventually(async () => expect(lines(), "once a minute").toHaveLength(1));
    expect(JSON.parse(lines()[0] ?? "")).toMatchObject({ hook: "/hooks/stripe", reason: "another secret" });
    const figures = await (
      await fetch(`http://127.0.0.1:${service.environment.METRICS_PORT}/metrics`)
    ).text();
    expect(figures).toContain(
      'corner_office_hook_deliveries_total{hook="/hooks/stripe",outcome="another secret"} 3',
    );
    expect((await stripe.deliver(service, event)).status).toBe(200);
    await eventually(async () => expect(await check()).toMatchObject({ level: "fine" }));
    expect((await operator.open("/today")).text).not.toContain("Deliveries are refused");
    shop.pass(60_000);
    const atMs = stripe.nowMs() - 301_000;
    expect((await stripe.deliver(service, event, { atMs })).status).toBe(400);
    await eventually(async () =>
      expect(await check()).toMatchObject({
        level: "fault",
        detail: expect.stringContaining("signed with another time, and accepted the last 20"),
        remedy: "Set this machine's clock by NTP: a delivery may be five minutes old.",
      }),
    );
  });
});
