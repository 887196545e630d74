import { execFileSync } from "node:child_process";

/** The number of open connections of the service's processes to a port on loopback. */
export function countConnectionsTo(port: number): number {
  const parameters = ["-Htnp", "state", "established", `( dport = :${port} )`];
  const lines = execFileSync("ss", parameters, { encoding: "utf8" }).split("\n");
  return lines.filter((line) => line.includes('"node",pid=') && !line.includes(`pid=${process.pid},`)).length;
}
