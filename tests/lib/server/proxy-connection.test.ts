import { describe, expect, it } from "vitest";
import { Service } from "@/tests/support/service";

/** How long an idle connection is kept, as the first of two answers on it says. */
async function keptSeconds(service: Service, fields = ""): Promise<number> {
  const first = `GET /api/site-banner HTTP/1.1\r\nHost: localhost\r\n${fields}\r\n`;
  const received = await service.send(`${first}${first.replace("Host", "Connection: close\r\nHost")}`);
  return Number(/^keep-alive: timeout=(\d+)/im.exec(received)?.[1]);
}

const forwarded = "X-Forwarded-For: 198.51.100.7\r\n";

describe("an idle connection", () => {
  it("of a trusted proxy is kept for longer than any balancer keeps it by default, others for 65 seconds", async () => {
    const service = await Service.start({ TRUSTED_PROXY_HOPS: "1" });
    expect(await keptSeconds(service, forwarded)).toBe(4200);
    expect(await keptSeconds(service), "the proxy adds the field to each request").toBe(65);
    await service.stop();
  });

  it("of a trusted proxy is kept for as long as the setting says", async () => {
    const service = await Service.start({ TRUSTED_PROXY_HOPS: "1", PROXY_KEEP_ALIVE_SECONDS: "90" });
    expect(await keptSeconds(service, forwarded)).toBe(90);
    await service.stop();
  });

  it("is no proxy's where none is configured, whatever its client claims", async () => {
    const service = await Service.start();
    expect(await keptSeconds(service, forwarded)).toBe(65);
    await service.stop();
  });
});
