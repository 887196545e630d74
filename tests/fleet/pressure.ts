import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { makeFolder, spawnLeashed } from "@/tests/support/leash";

/** What `wrk` saw: how many it asked, how many were answered with 400 or more, and how often a connection broke. */
export type Pressed = { asked: number; refused: number; broken: number };

/** Has `wrk` ask for these paths as fast as four connections can, until it is stopped. */
export class Pressure {
  private readonly script = join(makeFolder(), "pressure.lua");

  constructor(
    private readonly port: number,
    paths: readonly string[],
    token: string,
  ) {
    const list = paths.map((path) => `"${path}"`).join(", ");
    writeFileSync(
      this.script,
      `local paths, n = {${list}}, 0
wrk.headers["Authorization"] = "Bearer ${token}"
request = function()
  n = n + 1
  return wrk.format("GET", paths[n % #paths + 1])
end
done = function(summary)
  local errors = summary.errors
  local broken = errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format('{"asked":%d,"refused":%d,"broken":%d}', summary.requests, errors.status, broken))
end
`,
    );
  }

  start(): { stop: () => Promise<Pressed> } {
    const parameters = ["-t1", "-c4", "-d300s", "--timeout", "10s", "-s", this.script];
    const child = spawnLeashed("wrk", [...parameters, `http://127.0.0.1:${this.port}`], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    const said = text(child.stdout as Readable);
    return {
      async stop() {
        child.kill("SIGINT");
        await once(child, "close");
        return JSON.parse(/\{.*\}/.exec(await said)?.[0] ?? "{}");
      },
    };
  }
}
