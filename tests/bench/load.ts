import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const connections = 16;

type Load = { seconds?: number; script?: string; from?: number };

/** Closed-loop load by wrk, one thread and 16 connections. Returns requests per second, and the number of non-2xx. */
export async function load(url: string, { seconds = 4, script, from = 0 }: Load = {}) {
  const scripted = script ? ["-s", script, url, "--", String(from)] : [url];
  const { stdout } = await run("wrk", ["-t1", `-c${connections}`, `-d${seconds}s`, ...scripted]);
  return {
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1] ?? 0),
    requests: Number(/(\d+) requests in/.exec(stdout)?.[1] ?? 0),
    failed: Number(/Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? 0),
  };
}

/** Open-loop load by h2load at a fixed rate. Returns the median and 99th percentile latency in milliseconds. */
export async function latenciesAt(url: string, perSecond: number, headers: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  const file = join(folder, "log");
  const sent = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  const rate = String(Math.max(1, Math.floor(perSecond / connections)));
  await run(
    "h2load",
    ["--h1", "-t1", `-c${connections}`, "-D10", `--rps=${rate}`, `--log-file=${file}`, ...sent, url],
    {
      maxBuffer: 1e8,
    },
  );
  const millis = readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => Number(line.split("\t")[2]) / 1000)
    .sort((a, b) => a - b);
  rmSync(folder, { recursive: true });
  const at = (share: number) => millis[Math.floor(millis.length * share)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99), perSecond: millis.length / 10 };
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

export function median(numbers: number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}
