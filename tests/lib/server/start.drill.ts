import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, it } from "vitest";
import { operations } from "@/lib/http/register/operations";
import { startService } from "@/tests/support/block";
import { ClerkInstance } from "@/tests/support/clerk-instance";
import { besideDatabaseUrl, createDatabase, eventually } from "@/tests/support/databases";
import { createFolder } from "@/tests/support/leash";
import { reservePort } from "@/tests/support/port";
import { Service } from "@/tests/support/service";
import { startTcpProxy } from "@/tests/support/tcp-proxy";

const https = {
  APP_URL: "https://office.example.com",
  HSTS_INCLUDE_SUBDOMAINS: "true",
  RATE_LIMIT_HEALTH: "1",
};
const plain = await startService(https);

let addresses = 0;
/** An address with an unused quota. */
const newAddress = () => `127.0.8.${++addresses}`;

it("the service is one process, which loads nothing of Next, also if Clerk signs in", async () => {
  const clerk = await ClerkInstance.start();
  const NODE_OPTIONS = "--import ./tests/support/loaded.mjs";
  const service = await Service.start({ ...clerk.environment, NODE_OPTIONS });
  const headers = { accept: "text/html", "sec-fetch-dest": "document" };
  for (const path of ["/sign-in", "/home", "/docs"]) await service.ask(path, { headers });
  await eventually(() => expect(service.log).toContain("loaded node:sqlite"));
  expect(service.log).not.toMatch(/loaded next/);
  expect(readFileSync(`/proc/${service.pid}/task/${service.pid}/children`, "utf8")).toBe("");
  await service.stop();
  await clerk.stop();
});

it("a later start takes the compiled code from the one before", async () => {
  await (await Service.start()).stop();
  const service = await Service.start({ NODE_DEBUG_NATIVE: "COMPILE_CACHE" });
  expect(service.log).toMatch(/cache for ESM \S+\/program\.js was accepted/);
  await service.stop();
});

it("VERCEL=1 with our own server changes neither a header nor the client address", async () => {
  const named = await Service.start({ ...https, VERCEL: "1" });
  const from = newAddress();
  for (const path of [operations.health.path, "/", "/sign-in", "/docs/search", "/api/x"]) {
    const [expected, found] = await Promise.all(
      [plain, named].map(async (service) => {
        const { status, headers } = await service.ask(path, { from });
        return { status, names: Object.keys(headers).sort() };
      }),
    );
    expect(found, path).toEqual(expected);
  }
  const headers = { "x-vercel-forwarded-for": "198.51.100.7", "x-forwarded-for": "198.51.100.7" };
  expect((await named.ask(operations.health.path, { from, headers })).status).toBe(429);
  await named.stop();
});

const postgresUrl = inject("postgresUrl");

it.runIf(postgresUrl)(
  "an unavailable database does not stop the service from starting, and is used as soon as it is available",
  async () => {
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

    const { status, text, headers: readyHeaders } = await service.ask("/ready");
    expect(status).toBe(503);
    expect(readyHeaders["content-type"]).toBe("text/plain; charset=utf-8");
    expect(text).toContain("not ready: the store has not answered yet\n");

    const proxy = await startTcpProxy(target, port);
    await service.adminJson("account", "add", "ceo@example.com", "--plan", "licensed");
    const headers = { Authorization: `Bearer ${await service.token("ceo@example.com")}` };
    expect((await service.ask(operations.entitlement.path, { headers })).status).toBe(200);

    await eventually(async () => expect((await service.ask("/ready")).text).toBe("ready\n"));

    await service.stop({ expectErrors: true });
    await proxy.cut();
  },
);

it("a start after a kill removes what was left in DATA_DIR, and leaves nothing in the temporary folder", async () => {
  const temporary = createFolder();
  const service = await Service.start({ TMPDIR: temporary, SIGN_IN: "local" });
  await service.ready();
  await service.kill();
  for (const cut of ["mail/mail_1.eml.draft", "app-secret.draft.1", "copy-a1B2c3/store"]) {
    mkdirSync(join(service.dataDir, cut, ".."), { recursive: true });
    writeFileSync(join(service.dataDir, cut), "cut off");
  }

  await service.run();
  expect(readdirSync(temporary)).toEqual([]);
  const kept = readdirSync(service.dataDir, { recursive: true }).filter(
    (name) => !/^store\.sqlite/.test(`${name}`),
  );
  expect(kept.sort()).toEqual(["app-secret", "mail"]);
  await service.stop();
});
