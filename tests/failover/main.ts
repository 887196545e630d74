import { leaveOut } from "@/tests/fleet/leave-out";
import { isInstalled } from "@/tests/support/databases";
import { layOut } from "@/tests/support/table";
import { databaseHead, failOver } from "./database-failover";
import { openOffice } from "./office";
import { faults, pauses } from "./pair";
import { hasPatroni, startPatroniPair } from "./patroni-pair";
import { startPlainPair } from "./plain-pair";

/*
 * Three instances behind haproxy, under load of every kind, on a pair of PostgreSQL whose primary is killed, frozen, cut
 * off, switched over and made read-only: `npm run failover`, `-- kill 1` for one fault once, `-- --async` for asynchronous
 * replication, `-- --plain` for a pair without Patroni, `-- --serializable` for transactions that PostgreSQL undoes when
 * they meet. Exits 1 when something does not hold.
 */

const chosen = process.argv.slice(2);
const isSynchronous = !chosen.includes("--async");
const isSerializable = chosen.includes("--serializable");
const isPlain = chosen.includes("--plain") || !hasPatroni;
const repeats = Number(chosen.find((word) => /^\d+$/.test(word)) ?? 5);
const named = chosen.filter((word) => /^[a-z]/.test(word));
const known = [...faults, ...pauses] as const;
const options = ["--async", "--plain", "--serializable"];
if (chosen.some((word) => ![...known, ...options].includes(word) && !/^\d+$/.test(word))) {
  process.stderr.write(
    `The faults are ${known.join(", ")}; the options ${options.join(", ")} and a number of runs\n`,
  );
  process.exit(2);
}
for (const program of ["haproxy", "redis-server", "ss"])
  if (!isInstalled(program)) leaveOut("failover", program);
if (!hasPatroni)
  process.stderr.write("Patroni or etcd is not installed: a standby is promoted by hand instead\n");

const pair = isPlain ? await startPlainPair({ isSynchronous }) : await startPatroniPair({ isSynchronous });
if (!pair) leaveOut("failover", "PostgreSQL");
const office = await openOffice(pair, known.length * repeats, isSerializable);
process.stdout.write(`${pair.name}\n`);
let holds = true;
let runs = 0;
for (const fault of known) {
  if (named.length > 0 && !named.includes(fault)) continue;
  if (!pair.faults.includes(fault)) continue;
  const rows = [];
  for (let n = 0; n < repeats; n++) {
    const outcome = await failOver(office, fault, ++runs);
    holds &&= outcome.holds;
    rows.push(outcome.row);
    if (!outcome.isWhole) {
      process.stdout.write("\nthe pair is broken: the former primary leads, and no standby follows it\n");
      break;
    }
  }
  process.stdout.write(`\n${layOut([databaseHead, ...rows])}`);
}
await pair.end();
process.exit(holds ? 0 : 1);
