import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { createFolder, spawnLeashed } from "@/tests/support/leash";

/** The results of `wrk`: the number of requests, each response with 400 or more, and the number of broken connections. */
export type Pressed = { asked: number; refused: string[]; broken: number };

/** The number of connections of `wrk`. */
export const pressing = 4;

/** Runs `wrk`, which requests these paths as fast as its connections can, until it is stopped. */
export class Pressure {
  private readonly script = join(createFolder(), "pressure.lua");

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
response = function(status, headers, body)
  if status < 400 then return end
  local by = headers["x-served-by"] or "the balancer"
  io.write(string.format("refused: wrk, %s: %d by %s: %s\\n", os.date("!%H:%M:%S"), status, by, body:gsub("\\n", " ")))
end
done = function(summary)
  local errors = summary.errors
  local broken = errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format('{"asked":%d,"broken":%d}\\n', summary.requests, broken))
end
`,
    );
  }

  start(): { stop: () => Promise<Pressed> } {
    const parameters = ["-t1", `-c${pressing}`, "-d600s", "--timeout", "10s", "-s", this.script];
    const child = spawnLeashed("wrk", [...parameters, `http://127.0.0.1:${this.port}`], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    const said = text(child.stdout as Readable);
    return {
      async stop() {
        child.kill("SIGINT");
        await once(child, "close");
        const lines = (await said).split("\n");
        const counted = JSON.parse(lines.find((line) => line.startsWith("{")) ?? "{}");
        return { ...counted, refused: lines.filter((line) => line.startsWith("refused: ")) };
      },
    };
  }
}
