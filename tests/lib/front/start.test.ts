import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, inject, it } from "vitest";
import { operations } from "@/lib/api/operations";
import { besideDatabaseUrl, createDatabase, eventually } from "@/tests/support/databases";
import { reservePort } from "@/tests/support/port";
import { Service } from "@/tests/support/service";
import { startTcpProxy } from "@/tests/support/tcp-proxy";

describe("a stop", () => {
  it("refuses new connections, finishes the request in flight, and exits with 0", async () => {
    const service = await Service.start({ SIGN_IN: "local" });
    const socket = await beginRequest(service);
    const answer = text(socket);
    const stopped = service.stop();
    await eventually(() => expect(service.ask(operations.health.path)).rejects.toThrow("ECONNREFUSED"));
    socket.write("ab");
    const startedAtMs = Date.now();
    expect(await answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(await stopped).toBe(0);
    expect(Date.now() - startedAtMs, "the connection it leaves open is closed").toBeLessThan(2000);
  });
});

describe("an https address", () => {
  it("is said on every answer and every page to be the only one (RFC 6797)", async () => {
    const service = await Service.start({
      APP_URL: "https://office.example.com",
      HSTS_INCLUDE_SUBDOMAINS: "true",
    });
    for (const path of [operations.health.path, "/api/x", "/", "/docs/api/policy"]) {
      const { headers } = await service.ask(path);
      expect(headers["strict-transport-security"], path).toBe("max-age=31536000; includeSubDomains");
    }
    await service.stop();
  });
});

/** Sends all of a request but its body, and answers its socket once the service waits for that. */
async function beginRequest(service: Service): Promise<Socket> {
  const socket = connect(service.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(
    "POST /api/email/unsubscribe?token=x HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n",
  );
  const [interim] = await once(socket, "data");
  expect(String(interim)).toBe("HTTP/1.1 100 Continue\r\n\r\n");
  return socket;
}

describe("a second signal", () => {
  it("ends at once, whatever is in flight", async () => {
    const service = await Service.start();
    await beginRequest(service);
    const startedAtMs = Date.now();
    const stopped = service.stop();
    await eventually(() => expect(service.ask(operations.health.path)).rejects.toThrow("ECONNREFUSED"));
    service.signal("SIGINT");
    expect(await stopped).toBe(1);
    expect(Date.now() - startedAtMs).toBeLessThan(2000);
  });
});

describe("a request that does not end", () => {
  it("is given ten seconds, and then the service stops all the same", { timeout: 20_000 }, async () => {
    const service = await Service.start();
    await beginRequest(service);
    const startedAtMs = Date.now();
    expect(await service.stop()).toBe(0);
    expect(Date.now() - startedAtMs).toBeGreaterThanOrEqual(9_900);
    expect(Date.now() - startedAtMs).toBeLessThan(12_000);
  });
});

const postgresUrl = inject("postgresUrl");

describe.runIf(postgresUrl)("a database that is away", () => {
  it("does not keep the service from starting, and is found again by itself", async () => {
    const databaseUrl = new URL(await createDatabase(postgresUrl ?? ""));
    const target = Number(databaseUrl.port);
    const port = await reservePort();
    databaseUrl.port = String(port);
    const service = await Service.start({
      ...besideDatabaseUrl,
      DATABASE_URL: databaseUrl.href,
      SIGN_IN: "local",
    });
    const unsubscribe = () => service.ask(`${operations.unsubscribe.path}?token=x`, { method: "POST" });
    expect((await service.ask(operations.health.path)).status).toBe(200);
    expect((await service.ask(operations.siteBanner.path)).text).toBe('{"banner":null}');
    expect((await unsubscribe()).status, "a bad token needs no store").toBe(400);

    const proxy = await startTcpProxy(target, port);
    await service.adminJson("account", "add", "ceo@example.com", "--plan", "licensed");
    const headers = { Authorization: `Bearer ${await service.token("ceo@example.com")}` };
    expect((await service.ask(operations.entitlement.path, { headers })).status).toBe(200);

    await proxy.cut();
    expect((await service.ask(operations.entitlement.path, { headers })).status).toBe(503);
    await proxy.mend();
    expect((await service.ask(operations.entitlement.path, { headers })).status).toBe(200);
    await service.stop({ expectErrors: true });
    await proxy.cut();
  });
});
