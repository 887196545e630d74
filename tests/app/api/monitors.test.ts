import { execFile } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { operations } from "@/lib/http/operations";
import { eventually, isInstalled } from "@/tests/support/databases";
import { createFolder, spawnLeashed } from "@/tests/support/leash";
import { giveBack, lend } from "@/tests/support/lent-service";
import { reservePort } from "@/tests/support/port";
import type { Service } from "@/tests/support/service";

/* Two widely used monitors check the health endpoint, if they are installed. */

const run = promisify(execFile);
const { path } = operations.health;
let service: Service;
beforeAll(async () => {
  ({ service } = await lend());
});
afterAll(() => giveBack(service));

const checkHttp = "/usr/lib/nagios/plugins/check_http";

describe.runIf(existsSync(checkHttp))("check_http of the Monitoring Plugins", () => {
  const check = (...options: string[]) =>
    run(checkHttp, ["-I", "127.0.0.1", "-p", String(service.port), "-u", path, ...options]);

  it.each([
    ["by the status", "-e", "HTTP/1.1 200"],
    ["by the body", "-s", '"ok":true'],
    ["by a header", "-d", "ratelimit-policy"],
    ["by HEAD", "-j", "HEAD"],
    ["under the name of a virtual host", "-H", "office.example.com"],
  ])("reports the service as healthy %s", async (_, ...options) => {
    expect((await check(...options)).stdout).toMatch(/^HTTP OK: /);
  });

  it("reports a wrong method", async () => {
    await expect(check("-j", "DELETE")).rejects.toMatchObject({
      stdout: expect.stringMatching(/^HTTP WARNING: HTTP\/1\.1 405 Method Not Allowed /),
    });
  });
});

const exporter = "prometheus-blackbox-exporter";

describe.runIf(isInstalled(exporter))("the blackbox exporter of Prometheus", () => {
  const modules = {
    get: { prober: "http", http: { fail_if_body_not_matches_regexp: ['"ok":true'] } },
    head: { prober: "http", http: { method: "HEAD" } },
    version: { prober: "http", http: { headers: { "API-Version": "1" } } },
    unsupported: { prober: "http", http: { headers: { "API-Version": "2" } } },
  };
  let port: number;
  beforeAll(async () => {
    port = await reservePort();
    const config = join(createFolder(), "blackbox.json");
    writeFileSync(config, JSON.stringify({ modules }));
    spawnLeashed(exporter, [`--config.file=${config}`, `--web.listen-address=127.0.0.1:${port}`]);
    await eventually(() => fetch(`http://127.0.0.1:${port}/-/healthy`));
  });

  const probe = async (module: keyof typeof modules) => {
    const target = encodeURIComponent(`http://127.0.0.1:${service.port}${path}`);
    const answer = await fetch(`http://127.0.0.1:${port}/probe?module=${module}&target=${target}`);
    return answer.text();
  };

  it.each(["get", "head", "version"] as const)(
    "reports the service as healthy with the module %s",
    async (module) => {
      const metrics = await probe(module);
      expect(metrics).toContain("\nprobe_success 1\n");
      expect(metrics).toContain("\nprobe_http_status_code 200\n");
    },
  );

  it("reports a refusal as a failure", async () => {
    const metrics = await probe("unsupported");
    expect(metrics).toContain("\nprobe_success 0\n");
    expect(metrics).toContain("\nprobe_http_status_code 400\n");
  });
});
