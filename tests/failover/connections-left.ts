import { execFileSync } from "node:child_process";

/** The number of open connections of the service's processes to a port on loopback. */
export function countConnectionsTo(port: number): number {
  const parameters = ["-Htnp", "state", "established", `( dport = :${port} )`];
  const lines = execFileSync("ss", parameters, { encoding: "utf8" }).split("\n");
  // Not those of this process, nor of the databases between each other.
  const isOurs = (line: string) =>
    /\("(?:node|next|MainThread)[^"]*",pid=(\d+)/.exec(line)?.[1] !== String(process.pid);
  return lines.filter((line) => /"(?:node|next|MainThread)/.test(line)).filter(isOurs).length;
}
