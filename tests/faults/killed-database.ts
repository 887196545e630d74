import { besideDatabaseUrl, createDatabase, startPostgres } from "@/tests/support/databases";
import { Service } from "@/tests/support/service";
import type { Experiment } from "./experiment";

const commands = [
  ["account", "list"],
  ["account", "show", "ceo@example.com"],
  ["account", "add", "new@example.com"],
  ["credits", "history", "ceo@example.com"],
  ["waitlist", "list"],
  ["emails", "list", "ceo@example.com"],
  ["keys", "list"],
  ["banner", "set", "warning", "soon"],
];

/** PostgreSQL is killed under operators' commands and a server. */
export const killedDatabase: Experiment = {
  name: "killed-database",
  async run(see) {
    const postgres = await startPostgres();
    if (!postgres) throw new Error("PostgreSQL is not installed");
    const environment = { ...besideDatabaseUrl, DATABASE_URL: await createDatabase(postgres.url) };
    const service = await Service.start({ ...environment, SIGN_IN: "local" });
    await service.adminJson("account", "add", "ceo@example.com", "--plan", "licensed");
    const under = commands.map((command) => service.execute(["dist/admin/main.js", ...command]));
    // All have started; the kill hits the slower half midway.
    await Promise.race(under);
    process.kill(-(postgres.child.pid ?? 0), "SIGKILL");
    const after = commands.map((command) => service.execute(["dist/admin/main.js", ...command]));
    const outcomes = await Promise.all([...under, ...after]);
    const raw = outcomes.filter(({ stderr }) => /\n\s+at /.test(stderr));
    see({
      what: `${outcomes.length} commands, half of them after it`,
      figure: `${raw.length} ended in a stack (0), ${outcomes.filter(({ code }) => code === 0).length} worked`,
      holds: raw.length === 0,
    });
    const said = Math.max(...outcomes.map(({ stderr }) => stderr.trim().split("\n").length));
    see({ what: "what they say", figure: `${said} line at most (1)`, holds: said <= 1 });
    const { status } = await service.ask("/api/health");
    see({ what: "the server's health", figure: `${status} (200)`, holds: status === 200 });
    await service.kill();
  },
};
