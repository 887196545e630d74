import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { operations } from "@/lib/http/register/operations";
import { percentile } from "@/tests/support/timing";

const run = promisify(execFile);
const usualConnections = 16;
const healthPerSecond = 320;

type Load = { seconds?: number; script?: string; from?: number; connections?: number };

/** Closed-loop load by wrk, with one thread. Returns requests per second, and the number of non-2xx. */
export async function load(
  url: string,
  { seconds = 4, script, from = 0, connections = usualConnections }: Load = {},
) {
  const scripted = script ? ["-s", script, url, "--", String(from)] : [url];
  const { stdout } = await run("wrk", ["-t1", `-c${connections}`, `-d${seconds}s`, ...scripted]);
  return {
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1] ?? 0),
    requests: Number(/(\d+) requests in/.exec(stdout)?.[1] ?? 0),
    failed: Number(/Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? 0),
  };
}

/**
 * The 99th percentile of health's latency in milliseconds, by an open loop of h2load at a fixed rate for ten seconds: alone,
 * and while some work of a little longer goes on.
 */
export async function healthBeside(port: number, work: () => Promise<unknown>) {
  const alone = await healthLatency(port);
  const [beside] = await Promise.all([healthLatency(port), work()]);
  const figures = `p99 ${alone.toFixed(1)} ms alone, ${beside.toFixed(1)} ms then`;
  return { ratio: beside / alone, figures };
}

async function healthLatency(port: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  const file = join(folder, "log");
  const url = `http://localhost:${port}${operations.health.path}`;
  const how = ["--h1", "-t1", `-c${usualConnections}`, "-D10", `--rps=${healthPerSecond / usualConnections}`];
  await run("h2load", [...how, `--log-file=${file}`, url], { maxBuffer: 1e8 });
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  rmSync(folder, { recursive: true });
  return percentile(
    lines.map((line) => Number(line.split("\t")[2]) / 1000),
    0.99,
  );
}

type RequestScript = { path: string; headers?: Record<string, string>; body?: string; addresses: number };

/** A wrk script that sends a request from so many client addresses in turn, the first of them at `from`. */
export function scriptOf({ path, headers = {}, body, addresses }: RequestScript): string {
  const file = join(mkdtempSync(join(tmpdir(), "bench-")), "requests.lua");
  const fields = Object.entries(headers).map(([name, value]) => `["${name}"] = "${value}"`);
  writeFileSync(
    file,
    `local n, from = 0, 0
     function init(args) from = tonumber(args[1]) end
     function request()
       local client = from + n % ${addresses}
       n = n + 1
       local address = string.format("10.%d.%d.%d", math.floor(client / 65536) % 256, math.floor(client / 256) % 256, client % 256)
       local headers = { ${["Host = 'localhost'", '["X-Forwarded-For"] = address', ...fields].join(", ")} }
       return wrk.format("${body ? "POST" : "GET"}", "${path}", headers, ${body ? `[[${body}]]` : "nil"})
     end`,
  );
  return file;
}
