import { once } from "node:events";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { Browser } from "@/tests/support/browser";
import { spawnLeashed } from "@/tests/support/leash";
import { Service } from "@/tests/support/service";
import type { Experiment } from "./experiment";

const servers = 2;
const killsOfEach = 25; // of each server, and of each of as many rows of commands
const longestMs = 800; // that one lives: a command takes half as long

/** Servers and operator's commands write to one embedded store, and each is killed again and again. */
export const killedWriters: Experiment = {
  name: "killed-writers",
  async run(see) {
    const { dataDir } = await Service.make();
    const acknowledged: string[] = [];

    async function killServer(_: unknown, which: number): Promise<void> {
      const environment = { SIGN_IN: "local", TRUSTED_PROXY_HOPS: "1", DATA_DIR: dataDir };
      const service = await Service.start(environment, { logTo: "file" });
      for (let kill = 0; kill < killsOfEach; kill++) {
        const joining = joinUntilGone(service, `server${which}-${kill}`);
        await sleep(Math.random() * longestMs);
        await service.kill();
        await joining;
        await service.run();
      }
      await service.stop();
    }

    async function joinUntilGone(service: Service, name: string): Promise<void> {
      for (let n = 0; ; n++) {
        const email = `${name}-${n}@example.com`;
        const answer = await new Browser(service).submit("/waitlist/join", { email }).catch(() => undefined);
        if (!answer) return;
        if (answer.status === 303 && !answer.headers.location?.includes("problem")) acknowledged.push(email);
      }
    }

    async function killCommands(_: unknown, which: number): Promise<void> {
      const env = { ...process.env, NODE_ENV: "production", SIGN_IN: "local", DATA_DIR: dataDir } as const;
      for (let kill = 0; kill < killsOfEach; kill++) {
        const email = `command${which}-${kill}@example.com`;
        const command = spawnLeashed("node", ["dist/admin/main.js", "account", "add", email], {
          env,
          stdio: "ignore",
        });
        const killing = setTimeout(() => command.kill("SIGKILL"), longestMs * (0.5 + Math.random()));
        const [code] = await once(command, "exit");
        clearTimeout(killing);
        if (code === 0) acknowledged.push(email);
      }
    }

    await Promise.all([killServer, killCommands].flatMap((kill) => Array.from({ length: servers }, kill)));
    using store = new DatabaseSync(join(dataDir, "store.sqlite"));
    const rows = store.prepare("SELECT email FROM waitlist UNION ALL SELECT email FROM accounts").all();
    const kept = new Set(rows.map(({ email }) => email));
    const lost = acknowledged.filter((email) => !kept.has(email));
    see({
      what: `${2 * servers * killsOfEach} kills of servers and commands that write`,
      figure: `${lost.length} of ${acknowledged.length} acknowledged writes lost (0)`,
      holds: lost.length === 0 && acknowledged.length > 100,
    });
    const [found] = store.prepare("PRAGMA integrity_check").all();
    see({
      what: "the store after them",
      figure: `${found?.integrity_check} (ok)`,
      holds: found?.integrity_check === "ok",
    });
  },
};
