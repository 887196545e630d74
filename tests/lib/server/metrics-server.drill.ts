import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { operations } from "@/lib/http/register/operations";
import { startService, startStage } from "@/tests/support/block";
import { besideDatabaseUrl, eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { reservePort } from "@/tests/support/port";
import { Service, sendTo } from "@/tests/support/service";
import { unconfigured } from "@/tests/support/unconfigured";

const { health, entitlement } = operations;
const folder = "lib/server/watching";

describe.each(engines)("/metrics on $name", async (engine) => {
  const stage = await startStage(engine);
  const metricsPort = await reservePort();
  const service = await startService(
    { ...stage.environment, METRICS_PORT: String(metricsPort) },
    { expectErrors: true },
  );
  await service.adminJson("account", "add", "ceo@example.com", "--plan", "licensed");

  const scrape = async () => {
    const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    return response.text();
  };
  /** The value of a series in the text. */
  const read = (text: string, series: string) => {
    const line = text.split("\n").find((candidate) => candidate.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length + 1));
  };

  it("counts responses by address and status, including 429", async () => {
    for (let n = 0; n <= 120; n++) await service.ask(health.path, { from: "127.0.9.1" });
    await service.ask("/api/nothing-that-there-is");
    const text = await scrape();
    const answered = (address: string, status: number) =>
      read(text, `corner_office_requests_total{address="${address}",status="${status}"}`);
    expect(answered(health.path, 200)).toBe(120);
    expect(answered(health.path, 429)).toBe(1);
    expect(answered("/api/*", 404)).toBe(1);
    expect(read(text, 'corner_office_quota_refusals_total{quota="health"}')).toBe(1);
    expect(read(text, `corner_office_request_seconds_count{address="${health.path}"}`)).toBe(121);
  });

  it("measures the store, its connections, the outboxes and the event loop", async () => {
    await eventually(async () => {
      const text = await scrape();
      expect(read(text, 'corner_office_mails_total{outcome="taken"}')).toBe(1);
      expect(read(text, 'corner_office_outbox_due{outbox="onboarding"}')).toBe(0);
      expect(read(text, 'corner_office_outbox_oldest_due_seconds{outbox="sign-in"}')).toBe(0);
    });
    const hourAgoMs = Date.now() - 3_600_000;
    await stage.query(`UPDATE onboarding_emails SET state = 'scheduled', next_attempt_at_ms = ${hourAgoMs}`);
    const text = await scrape();
    const oldest = read(text, 'corner_office_outbox_oldest_due_seconds{outbox="onboarding"}');
    expect(oldest).toBeGreaterThan(3599);
    expect(oldest).toBeLessThan(36_000);
    expect(read(text, 'corner_office_store_seconds_count{outcome="answered"}')).toBeGreaterThan(0);
    expect(read(text, "nodejs_eventloop_lag_p99_seconds")).toBeGreaterThan(0);
    const idle = read(text, 'corner_office_store_connections{state="idle"}');
    if (engine.name === "PostgreSQL") expect(idle).toBeGreaterThan(0);
    else expect(idle).toBeUndefined();
  });

  it("measures a blocked event loop", async () => {
    await sleep(50); // Each scrape starts a new measurement, from its first tick.
    service.signal("SIGSTOP");
    await sleep(500);
    service.signal("SIGCONT");
    await eventually(async () =>
      expect(read(await scrape(), "nodejs_eventloop_lag_max_seconds")).toBeGreaterThan(0.4),
    );
  });

  it("counts the mails of each outbox by state", async () => {
    const counted = async () => {
      const text = await scrape();
      return ["scheduled", "sending", "failed"].map((state) =>
        read(text, `corner_office_outbox_mails{outbox="onboarding",state="${state}"}`),
      );
    };
    await stage.query("UPDATE onboarding_emails SET state = 'scheduled', next_attempt_at_ms = 9000000000000");
    expect(await counted()).toEqual([5, 0, 0]);
    await stage.query("UPDATE onboarding_emails SET state = 'failed' WHERE kind = 'welcome'");
    await stage.query(
      `UPDATE onboarding_emails SET state = 'sending', lease_until_ms = ${Date.now() + 60_000} WHERE kind = 'credits'`,
    );
    expect(await counted()).toEqual([3, 1, 1]);
    const waiting = 'corner_office_outbox_mails{outbox="sign-in",state="scheduled"}';
    expect(read(await scrape(), waiting)).toBe(0);
    await stage.query(
      "INSERT INTO sign_in_mails (id, kind, sealed, next_attempt_at_ms, expires_at_ms) VALUES ('m', 'code', 'x', 9000000000000, 9000000000000)",
    );
    expect(read(await scrape(), waiting)).toBe(1);
  });

  it("counts the webhooks by state", async () => {
    const counted = async () => {
      const text = await scrape();
      return ["works", "failing", "stopped", "locked"].map((state) =>
        read(text, `corner_office_webhooks{state="${state}"}`),
      );
    };
    expect(await counted()).toEqual([0, 0, 0, 0]);
    const ids: string[] = [];
    for (let n = 0; n < 4; n++)
      ids.push((await service.adminJson<{ id: string }>("webhook", "add", `http://127.0.0.1:${n + 1}/`)).id);
    expect(await counted()).toEqual([4, 0, 0, 0]);
    const [failing, stopped, locked] = ids;
    await stage.query(`UPDATE webhooks SET failing_since_ms = 1 WHERE id IN ('${failing}', '${stopped}')`);
    await stage.query(`UPDATE webhooks SET stopped_at_ms = 2 WHERE id = '${stopped}'`);
    await stage.query(`UPDATE webhooks SET sealed_secret = 'of another' WHERE id = '${locked}'`);
    expect(await counted()).toEqual([1, 1, 1, 1]);
  });

  it("contains no email, token, address or client input", async () => {
    const token = await service.token("ceo@example.com");
    await service.ask(entitlement.path, { headers: { Authorization: `Bearer ${token}` } });
    await service.ask(`/${token}`);
    await service.ask(`/api/${token}?${token}`, { method: "PURGE" });
    const text = await scrape();
    for (const secret of [token, "ceo@example.com", "127.0.0.1", "PURGE"]) expect(text).not.toContain(secret);
  });

  it("leaves out the outboxes while the store is unavailable", async () => {
    const failed = 'corner_office_store_seconds_count{outcome="failed"}';
    const up = (text: string) => read(text, 'corner_office_store_up{of="reads"}');
    const first = await scrape();
    const before = read(first, failed) ?? 0;
    expect([up(first), read(first, 'corner_office_store_up{of="writes"}')]).toEqual([1, 1]);
    expect(read(first, "corner_office_mail_up")).toBe(1);
    const token = await service.token("ceo@example.com");
    stage.freeze();
    const asked = service.ask(entitlement.path, { headers: { authorization: `Bearer ${token}` } });
    const used = 'corner_office_store_connections{state="used"}';
    await eventually(async () => {
      const text = await scrape();
      expect(text).toContain("corner_office_requests_total");
      if (stage.freezeStopsReads) expect(read(text, used)).toBeGreaterThan(0);
      if (stage.freezeStopsReads) expect(up(text)).toBe(0);
    });
    const { status } = await asked;
    stage.thaw();
    if (!stage.freezeStopsReads) return expect(status).toBe(200);
    expect(status).toBe(503);
    await eventually(async () => {
      const text = await scrape();
      expect(read(text, failed)).toBeGreaterThan(before);
      expect(up(text)).toBe(1);
    });
  });

  it("says that the store is gone also where no connection to it begins", async () => {
    if (engine.name !== "PostgreSQL") return;
    const port = await reservePort();
    const DATABASE_URL = `postgres://127.0.0.1:${await reservePort()}/x`;
    const alone = await startService(
      { ...besideDatabaseUrl, DATABASE_URL, METRICS_PORT: String(port) },
      { expectErrors: true },
    );
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(text).toContain('corner_office_store_up{of="reads"} 0\n');
    await alone.stop();
  });

  it.each(["alerts.yml", "grafana-dashboard.json"])("has every metric that %s uses", async (file) => {
    const text = await scrape();
    const asked =
      readFileSync(`${folder}/${file}`, "utf8").match(/\b(?:corner_office|nodejs|process)_\w+/g) ?? [];
    expect(asked.length).toBeGreaterThan(3);
    for (const name of new Set(asked)) {
      expect(text, name).toContain(`# TYPE ${name.replace(/_(?:bucket|count)$/, "")} `);
    }
  });
});

describe("the port of metrics", () => {
  it("is not there without METRICS_PORT, and the own one has no /metrics", async () => {
    expect((await (await unconfigured()).ask("/metrics")).status).toBe(404);
  });

  it("listens on loopback, or where METRICS_HOST says", async () => {
    for (const [METRICS_HOST, answers, refuses] of [
      ["", "127.0.0.1", "127.0.0.2"],
      ["127.0.0.2", "127.0.0.2", "127.0.0.1"],
    ] as const) {
      const port = await reservePort();
      const started = await Service.start({ METRICS_PORT: String(port), METRICS_HOST });
      expect((await fetch(`http://${answers}:${port}/metrics`)).status).toBe(200);
      await expect(fetch(`http://${refuses}:${port}/metrics`)).rejects.toThrow("fetch failed");
      await started.stop();
    }
  });

  it("answers this machine's own names, and no name that a page can point at it (DNS rebinding)", async () => {
    const port = await reservePort();
    const started = await Service.start({
      METRICS_PORT: String(port),
      METRICS_HOST: "localhost",
      METRICS_DOMAIN: "prod.example.com",
    });
    const asked = async (host: string) => (await sendTo(port, "/metrics", { headers: { host } })).status;
    const own = [
      "10.1.2.3:9464",
      "[fd00::7]:9464",
      "LOCALHOST",
      `office:${port}`,
      "office.monitoring.svc.cluster.local",
      "office.monitoring.svc:9464",
      "office.node.dc1.consul:9464",
      "web1.lan",
      "Office-1.prod.example.com:9464",
    ];
    for (const host of [...own, hostname()]) expect(await asked(host), host).toBe(200);
    for (const host of [
      "attacker.example.com",
      "127.0.0.1.nip.io",
      "localhost.example.com:9464",
      "attackersprod.example.com",
      "1.2.3.4.5",
    ])
      expect(await asked(host), host).toBe(421);
    expect((await sendTo(port, "/metrics?name[]=up", {})).status).toBe(200); // `params` of a Prometheus
    expect((await sendTo(port, "/metrics", { headers: { host: "attacker.example.com" } })).text).toBe(
      "Ask for this machine by an address, by METRICS_HOST, by a name of its own network or by one that ends in METRICS_DOMAIN.\n",
    );
    await started.stop();
  });

  it("reports that the port is taken", async () => {
    const { port } = await unconfigured();
    const started = Service.start({ METRICS_PORT: String(port) });
    await expect(started).rejects.toThrow(`METRICS_PORT: cannot listen on ${port} (EADDRINUSE)`);
  });
});
