import { type Caller, findMissing, type World } from "./caller";

const pauseMs = 4000;

/** An operator who adds an account now and then. A command that fails says so by its exit code. */
export function startCommands(world: World): Caller {
  const { front, record, run } = world;
  const added: string[] = [];
  const stopped = record.repeat(pauseMs, async (n) => {
    const email = `added-${run}-${n}@example.com`;
    const { code } = await front.admin("--json", "account", "add", email, "--plan", "licensed");
    if (code !== 0) return void record.late.push({ kind: "command", atMs: Date.now() });
    record.acknowledge("command");
    added.push(email);
  });
  return { stopped, findLost: async () => findMissing(world, added, ["accounts", "email"]) };
}
