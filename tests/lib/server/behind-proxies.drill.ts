import { readFileSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { startService } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { certificate } from "@/tests/support/certificate";
import { eventually, isInstalled } from "@/tests/support/databases";
import { startLosingProxy } from "@/tests/support/http-proxy";
import { makeKeyHolder } from "@/tests/support/key-holder";
import { createFolder, spawnLeashed } from "@/tests/support/leash";
import { connectDevice } from "@/tests/support/owner";
import { reservePort } from "@/tests/support/port";
import { type Environment, Service } from "@/tests/support/service";
import { startTcpProxy } from "@/tests/support/tcp-proxy";

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

function start(
  { configure, host }: (typeof fronts)[number],
  port: number,
  instances: [number, number],
): void {
  const folder = createFolder();
  const [program = "", ...rest] = configure({ host, port, instances }, folder);
  const environment = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  spawnLeashed(program, rest, { env: environment, stdio: "ignore" });
}

const latencyMs = 25;
const perRound = 10;
const rounds = 6;

describe.runIf(fronts.length > 0)("25 ms behind a proxy configured as in the README", () => {
  /** What 60 POSTs through each proxy got that came when their connections had been idle for about `idleMs`. */
  async function countFailures(settings: Environment, idleMs: number) {
    const port = await reservePort();
    const environment = { APP_URL: `https://localhost:${port}`, SIGN_IN: "none", TRUSTED_PROXY_HOPS: "1" };
    const instances = await Promise.all([1, 2].map(() => Service.start({ ...environment, ...settings })));
    const ways = await Promise.all(
      instances.map(async (instance) => {
        const way = await reservePort();
        (await startTcpProxy(instance.port, way)).slow(latencyMs);
        return way;
      }),
    );
    const counts = fronts.map(async (front) => {
      start(front, port, ways as [number, number]);
      const agent = new Agent({ rejectUnauthorized: false, keepAlive: true });
      const post = () =>
        new Promise<number>((resolve, reject) => {
          const options = { host: front.host, port, path: "/unsubscribe", method: "POST", agent };
          const headers = { host: `localhost:${port}`, "content-type": "application/x-www-form-urlencoded" };
          const asked = request({ ...options, servername: "localhost", headers }, (response) => {
            response.resume().once("end", () => resolve(response.statusCode ?? 0));
          });
          asked.once("error", reject);
          asked.end("List-Unsubscribe=One-Click");
        });
      await eventually(async () => expect(await post()).toBeLessThan(500));
      const found: number[] = [];
      for (let round = 0; round < rounds; round++) {
        await Promise.all(
          Array.from({ length: perRound }, async (_, n) => {
            await sleep(idleMs + (n - perRound / 2) * 8);
            found.push(await post());
          }),
        );
      }
      agent.destroy();
      return [front.name, found.filter((status) => status >= 500).length] as const;
    });
    const failures = Object.fromEntries(await Promise.all(counts));
    for (const instance of instances) await instance.stop();
    return failures;
  }

  it("loses POSTs where the service closes the idle connections, and none by default", {
    timeout: 90_000,
  }, async () => {
    const [closed, kept] = await Promise.all([
      countFailures({ PROXY_KEEP_ALIVE_SECONDS: "1" }, 2000),
      countFailures({}, 2000),
    ]);
    process.stdout.write(`POSTs lost of ${rounds * perRound}: ${JSON.stringify({ closed, kept })}\n`);
    expect(Object.values(closed).some((lost) => lost > 0)).toBe(true);
    expect(kept).toEqual(Object.fromEntries(fronts.map(({ name }) => [name, 0])));
  });
});

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
      for (const front of fronts) start(front, port, [one.port, two.port]);
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

    it("answers every request while the instances are restarted one right after the other, with every proxy", {
      timeout: 60_000,
    }, async () => {
      for (const instance of instances) if (!instance.isRunning) await instance.run();
      for (const front of fronts) expect((await ask(front, "/ready")).status, front.name).toBe(200);
      let isDone = false;
      const restarted = restartEach().finally(() => {
        isDone = true;
      });
      const answers = await Promise.all(
        fronts.map(async (front) => {
          const statuses = new Set<number | undefined>();
          for (let after = 0; after < 20; after += isDone ? 1 : 0) {
            statuses.add((await ask(front, "/api/site-banner")).status);
            await sleep(5);
          }
          return [front.name, [...statuses]];
        }),
      );
      await restarted;
      expect(answers).toEqual(fronts.map(({ name }) => [name, [200]]));
    });

    async function restartEach(): Promise<void> {
      for (const instance of instances) {
        await instance.stop();
        await instance.run();
        await instance.ready();
      }
    }

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

describe.runIf(fronts.length > 0)(
  "an app with a key, behind a proxy configured as in the README",
  async () => {
    const port = await reservePort();
    const url = `https://localhost:${port}`;
    const service = await startService({ APP_URL: url, SIGN_IN: "local", TRUSTED_PROXY_HOPS: "1" });
    const losing = await startLosingProxy(() => service.port);
    const holder = makeKeyHolder(url);
    const agent = new Agent({ rejectUnauthorized: false });
    let tokens = { access_token: "", refresh_token: "" };
    beforeAll(async () => {
      for (const front of fronts) start(front, port, [Number(new URL(losing.url).port), service.port]);
      await service.adminJson("account", "add", "ceo@example.com", "--plan", "licensed");
      const { refresh_token } = await connectDevice(
        await Browser.signIn(service, "ceo@example.com"),
        service,
      );
      tokens.refresh_token = refresh_token;
    });

    type Said = { status: number | undefined; challenge: string; nonce: string; said: string };
    const ask = (
      { host }: (typeof fronts)[number],
      path: string,
      headers: Record<string, string>,
      body = "",
    ) =>
      new Promise<Said>((resolve, reject) => {
        const options = { host, port, path, agent, servername: "localhost", method: body ? "POST" : "GET" };
        const asked = request(
          { ...options, headers: { host: `localhost:${port}`, ...headers } },
          async (response) => {
            const { statusCode: status, headers: fields } = response;
            const challenge = String(fields["www-authenticate"]);
            const nonce = String(fields["dpop-nonce"]);
            resolve({ status, challenge, nonce, said: await text(response) });
          },
        );
        asked.once("error", reject);
        asked.end(body);
      });

    it.each(fronts)(
      "proves the public address through $name, in any spelling of it, and no other",
      async (front) => {
        await eventually(async () => expect((await ask(front, "/ready", {})).status).toBe(200));
        const { refresh_token } = tokens;
        const form = new URLSearchParams({ client_id: "native", grant_type: "refresh_token", refresh_token });
        const headers = {
          "content-type": "application/x-www-form-urlencoded",
          dpop: holder.prove("POST", "/oauth/token"),
        };
        const renewed = await ask(front, "/oauth/token", headers, String(form));
        expect(renewed.status, renewed.said).toBe(200);
        tokens = JSON.parse(renewed.said);
        const read = (htu: string, path = "/api/entitlement", more = {}) =>
          ask(front, path, {
            ...holder.headers("GET", "/api/entitlement", tokens.access_token, { claims: { htu } }),
            ...more,
          });
        const right = `${url}/api/entitlement`;
        for (const htu of [
          right,
          `${right}?a=b`,
          `${right}/`,
          right.replace("https://localhost", "HTTPS://LOCALHOST"),
        ])
          expect((await read(htu)).status, htu).toBe(200);
        expect((await read(right, "/api/entitlement?poll=1")).status).toBe(200);
        const forged = {
          "x-forwarded-host": "elsewhere.example",
          "x-forwarded-proto": "http",
          forwarded: "host=elsewhere.example",
        };
        expect((await read(right, "/api/entitlement", forged)).status).toBe(200);
        for (const htu of [
          `http://localhost:${port}/api/entitlement`,
          `http://127.0.0.1:${service.port}/api/entitlement`,
          "https://elsewhere.example/api/entitlement",
        ]) {
          const refused = await read(htu, "/api/entitlement", forged);
          expect([refused.status, refused.challenge.split(", algs")[0]]).toEqual([
            401,
            `DPoP realm="corner-office", error="invalid_dpop_proof", error_description="htu is not ${right}"`,
          ]);
        }
      },
    );

    // auth0/Auth0.Android#902: a library sends a request again by itself; danielfett/draft-dpop#91: a nonce that has become old.
    it.each(fronts)(
      "has the app go on with a new proof where one comes twice through $name, or with a nonce from before",
      async (front) => {
        const path = "/api/entitlement";
        const prove = (claims: object = {}) => holder.headers("GET", path, tokens.access_token, { claims });
        const sent = prove();
        expect((await ask(front, path, sent)).status).toBe(200);
        const again = await ask(front, path, sent);
        expect([again.status, again.challenge.split(", algs")[0], again.nonce]).toEqual([
          401,
          'DPoP realm="corner-office", error="invalid_dpop_proof", error_description="The DPoP proof was used before"',
          "undefined",
        ]);
        expect((await ask(front, path, prove())).status).toBe(200);
        const late = await ask(front, path, prove({ nonce: "A".repeat(43) }));
        expect([late.status, late.challenge.split(", algs")[0], late.nonce]).toEqual([
          401,
          'DPoP realm="corner-office", error="use_dpop_nonce", error_description="The DPoP proof is too old, or of a clock that differs: send the nonce"',
          expect.stringMatching(/^[\w-]{43}$/),
        ]);
        const { nonce } = late;
        expect((await ask(front, path, prove({ nonce, iat: 0 }))).status).toBe(200);
      },
    );

    it.each(fronts)(
      "has the app go on with a new proof where an instance behind $name ends before it answers",
      async (front) => {
        const path = "/api/entitlement";
        const read = () => ask(front, path, holder.headers("GET", path, tokens.access_token));
        losing.loseNext(path);
        const [one, two] = [await read(), await read()];
        const met = [one, two].find(({ status }) => status !== 200);
        process.stdout.write(`behind ${front.name}: ${met?.status} ${met?.challenge}\n`);
        expect(met && [401, 502].includes(met.status ?? 0), String(met?.status)).toBe(true);
        if (met?.status === 401) expect(met.challenge).toContain("The DPoP proof was used before");
        expect((await read()).status).toBe(200);
      },
    );
  },
);
