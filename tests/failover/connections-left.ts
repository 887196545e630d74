import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

const staysForMs = 10_000; // longer than an attempt to connect, with its goodbye

/** The number of the service's connections to a port on loopback that were open ten seconds ago and still are. */
export async function countConnectionsLeft(port: number): Promise<number> {
  const before = connectionsTo(port);
  await sleep(staysForMs);
  return connectionsTo(port).filter((one) => before.includes(one)).length;
}

/** The local addresses of the open connections of all Node processes but this one. */
function connectionsTo(port: number): string[] {
  const parameters = ["-Htnp", "state", "established", `( dport = :${port} )`];
  return execFileSync("ss", parameters, { encoding: "utf8" })
    .split("\n")
    .filter((line) => line.includes('"node",pid=') && !line.includes(`pid=${process.pid},`))
    .map((line) => line.trim().split(/\s+/)[2] ?? "");
}
