import { readFileSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { certificate } from "@/tests/support/certificate";
import { eventually, isInstalled } from "@/tests/support/databases";
import { createFolder, spawnLeashed } from "@/tests/support/leash";
import { reservePort } from "@/tests/support/port";
import { Service } from "@/tests/support/service";

const readme = readFileSync("lib/server/README.md", "utf8");
const redisPort = inject("redisPort");

/** Replaces the README's addresses with the test's own. */
function readBlock(language: string, routes: [was: string, is: string | number][]): string {
  let block = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "ms").exec(readme)?.[1] ?? "";
  for (const [was, is] of routes) {
    expect(block).toContain(was);
    block = block.replace(was, String(is));
  }
  return block;
}

/** The port of a proxy, and those of its instances. */
type Route = { host: string; port: number; instances: [number, number] };

/** How each proxy is started with the README's configuration. */
const proxies = {
  nginx({ host, port, instances }: Route, folder: string) {
    const block = readBlock("nginx", [
      ...upstreams(instances),
      ["443", `${host}:${port}`],
      ["office.example.com", "localhost"],
      ["/etc/ssl/office.crt", join(folder, "office.crt")],
      ["/etc/ssl/office.key", join(folder, "office.key")],
    ]);
    const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
      .map((name) => `${name}_temp_path ${join(folder, name)};`)
      .join(" ");
    const user = process.getuid?.() === 0 ? "user root;" : "";
    const config = `${user} daemon off; pid ${join(folder, "pid")}; error_log ${join(folder, "log")};
events {} http { access_log off; ${temporary} ${block} }`;
    return ["nginx", "-c", write(folder, config), "-e", join(folder, "log")];
  },
  caddy({ host, port, instances }: Route, folder: string) {
    const tls = `tls ${join(folder, "office.crt")} ${join(folder, "office.key")}`;
    const block = readBlock("caddyfile", [
      ...upstreams(instances),
      ["office.example.com {", `https://localhost:${port} {\n  bind ${host}\n  ${tls}`],
    ]);
    const config = `{\n  admin off\n  auto_https disable_redirects\n  servers {\n    protocols h1 h2\n  }\n}\n${block}`;
    return ["caddy", "run", "--adapter", "caddyfile", "--config", write(folder, config)];
  },
  haproxy({ host, port, instances }: Route, folder: string) {
    const block = readBlock("haproxy", [
      ...upstreams(instances),
      [":443", `${host}:${port}`],
      ["/etc/ssl/office.pem", join(folder, "office.pem")],
    ]);
    return ["haproxy", "-q", "-f", write(folder, block)];
  },
};

function upstreams([one, two]: [number, number]): [string, string][] {
  return [
    ["127.0.0.1:3000", `127.0.0.1:${one}`],
    ["127.0.0.1:3001", `127.0.0.1:${two}`],
  ];
}

function write(folder: string, config: string): string {
  const { key, cert } = certificate();
  for (const [name, content] of Object.entries({ key, crt: cert, pem: cert + key })) {
    writeFileSync(join(folder, `office.${name}`), content);
  }
  writeFileSync(join(folder, "config"), config);
  return join(folder, "config");
}

/** Each proxy has its own address and the port of APP_URL. */
const fronts = Object.entries(proxies)
  .map(([name, configure], at) => ({
    name,
    configure,
    host: `127.0.0.${at + 1}`,
    from: `127.61.0.${at + 1}`,
  }))
  .filter(({ name }) => isInstalled(name));

describe.runIf(redisPort && fronts.length > 0)(
  "two instances behind a proxy configured as in the README",
  () => {
    let instances: [Service, Service];
    let port: number;
    beforeAll(async () => {
      port = await reservePort();
      const settings = {
        APP_URL: `https://localhost:${port}`,
        APP_SECRET: "s".repeat(32),
        SIGN_IN: "none",
        REDIS_URL: `redis://127.0.0.1:${redisPort}`,
        TRUSTED_PROXY_HOPS: "1",
        DRAIN_SECONDS: "2",
      };
      instances = [await Service.start(settings), await Service.start(settings)];
      const [one, two] = instances;
      for (const { configure, host } of fronts) {
        const folder = createFolder();
        const [program = "", ...rest] = configure({ host, port, instances: [one.port, two.port] }, folder);
        const environment = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
        spawnLeashed(program, rest, { env: environment, stdio: "ignore" });
      }
      for (const front of fronts) {
        await eventually(async () => expect((await ask(front, "/ready")).status).toBe(200));
      }
    });
    afterAll(() => Promise.all(instances.map((instance) => instance.stop())));

    const agent = new Agent({ rejectUnauthorized: false, keepAlive: true });

    async function ask(
      { host, from }: (typeof fronts)[number],
      path: string,
      {
        headers = {},
        body = "",
        method = body ? "POST" : "GET",
      }: { headers?: Record<string, string>; body?: string; method?: string } = {},
    ) {
      const options = { host, port, path, agent, localAddress: from, servername: "localhost" };
      const sent = { host: `localhost:${port}`, ...headers };
      return new Promise<{ status: number | undefined; quota: string; said: string }>((resolve, reject) => {
        const asked = request({ ...options, method, headers: sent }, async (response) => {
          const { statusCode: status, headers } = response;
          resolve({ status, quota: String(headers.ratelimit), said: await text(response) });
        });
        asked.once("error", reject);
        asked.end(body);
      });
    }

    it.each(fronts)(
      "answers at APP_URL and counts by the address that $name saw, whatever the client claims",
      async (front) => {
        // An instance counts alone while the shared counter is late, as it can be on a busy machine.
        await eventually(async () => {
          const left = [];
          for (const forged of ["203.0.113.1", "203.0.113.2", "203.0.113.3"]) {
            const { status, quota } = await ask(front, "/api/health", {
              headers: { "x-forwarded-for": forged },
            });
            expect(status).toBe(200);
            left.push(Number(/\br=(\d+)/.exec(quota)?.[1]));
          }
          const [first = 0] = left;
          expect(left).toEqual([first, first - 1, first - 2]);
        });
        const call = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
        const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
        expect((await ask(front, "/mcp", { headers, body: JSON.stringify(call) })).said).toContain(
          "get_health",
        );
        expect((await ask(front, "/")).said).toContain("Corner Office");
      },
    );

    it("answers every request while one instance is stopped, with every proxy", async () => {
      const [one] = instances;
      if (!one.isRunning) await one.run();
      for (const front of fronts) expect((await ask(front, "/ready")).status, front.name).toBe(200);
      let isStopped = false;
      const stopped = one.stop().then(() => {
        isStopped = true;
      });
      const answers = await Promise.all(
        fronts.map(async (front) => {
          const statuses = new Set<number | undefined>();
          for (let after = 0; after < 20; after += isStopped ? 1 : 0) {
            statuses.add((await ask(front, "/api/site-banner")).status);
            await sleep(5);
          }
          return [front.name, [...statuses]];
        }),
      );
      await stopped;
      expect(answers).toEqual(fronts.map(({ name }) => [name, [200]]));
    });

    it.runIf(isInstalled("nginx"))("nginx refuses in JSON what does not reach an instance", async () => {
      const [nginx] = fronts;
      if (!nginx) throw new Error("nginx is not the first of the fronts");
      const refused = async (path: string, method = "GET") => {
        const { status, said } = await ask(nginx, path, { method });
        const { code, docs } = JSON.parse(said).error;
        expect(docs).toMatch(new RegExp(`/docs/api/errors#${code}$`));
        return [status, code];
      };
      expect(await refused("/api/%00")).toEqual([400, "invalid_request"]);
      expect(await refused("/api/health", "TRACE")).toEqual([405, "method_not_allowed"]);
      expect(await refused(`/${"a".repeat(20_000)}`)).toEqual([414, "too_large"]);
      await Promise.all(instances.map((instance) => instance.stop()));
      expect(await refused("/api/health")).toEqual([502, "unavailable"]);
    });
  },
);
