import { type ChildProcess, execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { version } from "@/package.json";
import { createDatabase } from "@/tests/support/databases";
import { whyNoRoot } from "@/tests/support/debian";
import { createFolder, spawnLeashed } from "@/tests/support/leash";
import { reservePort } from "@/tests/support/port";
import { sendTo } from "@/tests/support/service";

const run = promisify(execFile);
const say = (line: string) => process.stdout.write(`${line}\n`);
const patient = { timeout: 1_800_000 }; // a machine on which all drills run

const why = whyNoRoot("buildah", "mmdebstrap");
if (why) say(`NOT TRIED: the image of lib/server/Dockerfile and its composition, because ${why}`);

/** The image of lib/server/Dockerfile, as far as it can be built and run here without an engine. */
(why ? () => {} : describe)("the container", () => {
  const folder = createFolder();
  const root = join(folder, "root");
  const container = (what: string, ...parameters: string[]) => [
    "--mount",
    ...(what === "compose" ? ["--net", "--pid", "--fork", "--kill-child"] : []),
    ...["bash", "tests/support/container.sh", what, folder, ...parameters],
  ];
  const megabytes = async (path: string) => Number((await run("du", ["-sm", path])).stdout.split("\t", 1)[0]);

  beforeAll(async () => {
    const began = performance.now();
    const child = spawnLeashed("unshare", container("build"), { stdio: ["ignore", "ignore", "pipe"] });
    let log = "";
    child.stderr?.setEncoding("utf8").on("data", (chunk) => {
      log += chunk;
    });
    const code = await new Promise((ended) => child.once("close", ended));
    expect(code, log.slice(-2000)).toBe(0);
    say(`built in ${Math.round((performance.now() - began) / 1000)} s, packages and base included`);
  }, patient.timeout);

  const start = (command: string[], settings: Record<string, string>): ChildProcess =>
    spawnLeashed(
      "unshare",
      container("run", ...Object.entries(settings).map((one) => one.join("=")), ...command),
      {
        stdio: ["ignore", "ignore", "inherit"],
      },
    );

  const config = () => JSON.parse(readFileSync(join(folder, "image.json"), "utf8")).Docker.config;

  it("runs as a user of its own, says how it is asked and stopped, and which release it is", () => {
    expect(config()).toMatchObject({
      User: "1000:1000",
      WorkingDir: "/office",
      Cmd: ["node", "dist/server/main.js"],
      Env: expect.arrayContaining(["NODE_ENV=production", "DATA_DIR=/data"]),
      ExposedPorts: { "3000/tcp": {} },
      Volumes: { "/data": {} },
      StopSignal: "SIGTERM",
      Healthcheck: { Test: ["CMD", "node", "-e", expect.stringContaining("/ready")] },
      Labels: {
        "org.opencontainers.image.title": "Corner Office",
        "org.opencontainers.image.version": version,
        "org.opencontainers.image.licenses": "MIT",
      },
    });
  });

  it("has what production runs and nothing else, in at most 200 MB on Node's own", patient, async () => {
    expect(readdirSync(join(root, "office")).sort()).toEqual(
      ["LICENSE", "dist", "lib", "node_modules", "package.json", "public"].sort(),
    );
    const files = readdirSync(join(root, "office"), { recursive: true, encoding: "utf8" });
    const ours = files.filter((name) => !name.startsWith("node_modules/"));
    expect(ours.filter((name) => /\.tsx?$/.test(name) && !name.startsWith("lib/docs/clients/"))).toEqual([]);
    expect(files.filter((name) => /(^|\/)\.(env|git|data)/.test(name))).toEqual([]);
    const unused = [
      "next",
      "react",
      "@next",
      "@img",
      "@playwright",
      "playwright-core",
      "esbuild",
      "typescript",
    ];
    expect(unused.filter((name) => existsSync(join(root, "office/node_modules", name)))).toEqual([]);
    const [whole, base, office] = await Promise.all(
      [root, join(folder, "base"), join(root, "office")].map(megabytes),
    );
    say(`${whole} MB, of which ${base} MB Debian and Node, ${office} MB the service, the rest pg_dump`);
    expect(Number(whole) - Number(base)).toBeLessThanOrEqual(200);
  });

  it(
    "is ready within moments from a read-only root, healthy, and ends when it is told to",
    patient,
    async () => {
      const PORT = String(await reservePort());
      const [began, settings] = [
        performance.now(),
        { PORT, SIGN_IN: "local", DRAIN_SECONDS: "0", LOG_LEVEL: "warn" },
      ];
      const child = start(config().Cmd, settings);
      const ended = new Promise((resolve) => child.once("close", resolve));
      const ask = (path: string) => sendTo(Number(PORT), path, {}).catch(() => undefined);
      while ((await ask("/ready"))?.status !== 200) await sleep(20);
      say(`ready after ${Math.round(performance.now() - began)} ms`);
      expect((await ask("/"))?.status).toBe(200);
      expect((await ask("/.well-known/oauth-authorization-server"))?.status).toBe(200);
      const health = config().Healthcheck.Test.slice(1);
      const healthy = start(health, settings);
      expect(await new Promise((resolve) => healthy.once("close", resolve))).toBe(0);
      child.kill("SIGTERM");
      expect(await ended).toBe(0);
      const sick = start(health, settings);
      expect(await new Promise((resolve) => sick.once("close", resolve))).toBe(1);
    },
  );

  it(
    "has PostgreSQL's tools, of a server as new as Debian's: a backup is made, and restored",
    patient,
    async () => {
      const addresses = await Promise.all(
        [1, 2].map(() => createDatabase(String(inject("postgresUrl")), undefined)),
      );
      const [settings, empty] = addresses.map((DATABASE_URL) => ({
        DATABASE_URL,
        APP_URL: "https://office.example.com",
        APP_SECRET: "s".repeat(43),
        BACKUP_PASSPHRASE: "correct horse battery staple",
      })) as Record<string, string>[] as [Record<string, string>, Record<string, string>];
      const operate = async (given: Record<string, string>, ...words: string[]) => {
        const child = start(["node", "dist/admin/main.js", ...words], given);
        expect(await new Promise((resolve) => child.once("close", resolve)), words.join(" ")).toBe(0);
      };
      await operate(settings, "account", "add", "ceo@example.com");
      await operate(settings, "backup", "/data/office.backup");
      await operate(empty, "restore", "/data/office.backup");
      await operate(empty, "account", "show", "ceo@example.com");
    },
  );

  it(
    "is composed with PostgreSQL, a counter store and Caddy: one command leads to a page with https",
    patient,
    async () => {
      const { services } = JSON.parse(readFileSync(join(folder, "compose.json"), "utf8"));
      for (const { restart, logging } of Object.values<{ restart?: string; logging?: object }>(services))
        if (restart) expect(logging).toMatchObject({ options: { "max-file": "5" } });
      const { stdout } = await run("unshare", container("compose"));
      expect(stdout).toMatch(/^HTTP\/2 200/);
      expect(stdout).toContain("<h1");
      expect(stdout).toMatch(/✓ store +PostgreSQL answers/);
      expect(stdout).toMatch(/✓ counters +Redis counts/);
      expect(stdout).toMatch(/✓ client address +appended by 1 trusted/);
      for (const secret of ["app-secret", "postgres-password", "valkey-password"])
        expect(readFileSync(join(folder, "secrets", secret), "utf8")).toMatch(/^[0-9a-f]{64}$/);
      say(
        "Not tried, for want of an engine: the images of Node, Caddy, PostgreSQL and Valkey, their networks and volumes, dropped capabilities, PostgreSQL's own packages for another major.",
      );
    },
  );
});

/** By the types and schemas that Kubernetes' own description generates. */
it("the manifest for Kubernetes is one that its description allows", patient, async () => {
  const folder = createFolder();
  await run("npm", [
    "install",
    "--prefix",
    folder,
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "kubernetes-models@5.1.0",
    "yaml@2.9.1",
  ]);
  const manifest = resolve("lib/server/kubernetes.yaml");
  const program = `
    import { readFileSync, writeFileSync } from "node:fs";
    import { parseAllDocuments } from "yaml";
    const objects = parseAllDocuments(readFileSync(${JSON.stringify(manifest)}, "utf8")).map((one) => one.toJS());
    for (const [at, object] of objects.entries()) {
      const { apiVersion, kind } = object;
      const path = "kubernetes-models/" + apiVersion;
      const { [kind]: Kind } = await import(path);
      new Kind(object).validate();
      const literal = JSON.stringify(object, null, 1);
      writeFileSync(at + ".ts", "import type { I" + kind + " } from '" + path + "';\\nexport const it: I" + kind + " = " + literal + ";\\n");
    }
    console.log(objects.map(({ kind }) => kind).join(" "));`;
  writeFileSync(join(folder, "validate.mjs"), program);
  const { stdout } = await run("node", ["validate.mjs"], { cwd: folder });
  expect(stdout.trim()).toBe(
    "Secret ConfigMap Deployment Service Ingress PodDisruptionBudget PersistentVolumeClaim CronJob",
  );
  // The types know every field, where the schemas allow unknown ones.
  const options = { strict: true, noEmit: true, module: "nodenext", types: [], skipLibCheck: true };
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions: options, include: ["*.ts"] }),
  );
  const compiled = await run(resolve("node_modules/.bin/tsc"), ["-p", folder]).catch((failure) => failure);
  expect(compiled.stdout).toBe("");
  say("Not tried: kubeconform itself, and a cluster.");
});
