import { settings } from "@/lib/config/settings";
import type { LightColour } from "@/lib/config/theme";
import { type Db, store } from "@/lib/db/store";
import { delayedAfterMs, findBacklogs } from "@/lib/mail/outbox/backlog";
import { probeCounterStore } from "@/lib/rate-limit/rate-limit";
import { outageSince } from "@/lib/runtime/dependency-outages";
import { readinessProblems } from "@/lib/runtime/readiness";
import { withTimeout } from "@/lib/runtime/timeout";
import { listOutages, type Outage, recordOutages, type Unwritten } from "@/lib/status/outages";

/** A part of this service and its current state. An outage is recorded, unlike a start or a missing setting. */
export type Part = {
  name: string;
  colour: LightColour;
  says: string;
  isOutage?: true;
  /** What its operator sets, of one that is not set up. */
  remedy?: string;
};

const foundWithinMs = 2000; // the timeout of an account read
const countersWithinMs = 400; // the timeout of a request's counters

type State = Omit<Part, "name">;

const works: State = { colour: "good", says: "Works" };
const outage = (colour: LightColour, says: string): State => ({ colour, says, isOutage: true });

/**
 * The state of every part, as this process knows it or checks it now, and the outages of the last 90 days: `undefined`
 * without a store.
 */
export async function readStatus(nowMs: number): Promise<{ parts: Part[]; outages: Outage[] | undefined }> {
  const [oldestDueAtMs, counters, outages] = await Promise.all([
    readInTime((db) => findOldestDue(db, nowMs)),
    probeCounterStore(countersWithinMs).then(
      () => works,
      () => outage("soon", "Counted separately on each instance: the shared counters are unavailable"),
    ),
    readInTime((db) => listOutages(db, nowMs)),
  ]);
  const isStoreThere = oldestDueAtMs !== undefined;
  const api: State =
    readinessProblems().length === 0
      ? works
      : { colour: "soon", says: "Starting or stopping: accepts no new visitors" };
  const mcp = isStoreThere ? api : outage("soon", "Works, except the tools that read an account");
  const parts: Part[] = [
    { name: "Public API", ...api },
    { name: "Accounts and credits", ...stateOfAccounts(isStoreThere) },
    { name: "Mail", ...stateOfMail(oldestDueAtMs, nowMs) },
    { name: "Rate limits", ...counters },
    { name: "MCP server", ...mcp },
  ];
  return { parts: parts.map((part) => withOpenOutage(part, outages)), outages };
}

/** What works here may be out on another instance, whose outage is listed: no part works and is out at once. */
function withOpenOutage(part: Part, outages: readonly Outage[] = []): Part {
  const open = outages.find(({ part: name, ended_at_ms }) => name === part.name && ended_at_ms === null);
  if (!open || part.isOutage) return part;
  return { name: part.name, colour: "soon", says: `Outage since ${clock(open.started_at_ms)}` };
}

function stateOfAccounts(isStoreThere: boolean): State {
  if (!isStoreThere) return outage("stopped", "Unavailable");
  const noWritesSinceMs = outageSince("writes");
  if (noWritesSinceMs !== undefined)
    return outage("soon", `Can be read, not changed since ${clock(noWritesSinceMs)}`);
  if (settings().signIn.kind !== "none") return works;
  const remedy = "Set SIGN_IN=local, or the four keys of Clerk, and start the service again.";
  return { colour: "soon", says: "Sign-in is not set up", remedy };
}

function stateOfMail(oldestDueAtMs: number | undefined, nowMs: number): State {
  const failsSinceMs = outageSince("mail");
  if (failsSinceMs !== undefined)
    return outage("stopped", `Not accepted for delivery since ${clock(failsSinceMs)}`);
  if (oldestDueAtMs === undefined) return { colour: "unknown", says: "The store is unavailable" };
  if (nowMs - oldestDueAtMs >= delayedAfterMs) return outage("soon", `Delayed since ${clock(oldestDueAtMs)}`);
  if (settings().mail.kind !== "files") return works;
  const remedy =
    "Set EMAIL_FROM, and RESEND_API_KEY or SMTP_URL, and start the service again. Until then mails are files in the folder mail of DATA_DIR.";
  return { colour: "unknown", says: "Not set up, so nothing is sent", remedy };
}

const unwritten: Unwritten = new Map();

/** Looks at every part, and records its outages. */
export async function watchOutages(): Promise<void> {
  const { parts } = await readStatus(Date.now());
  await recordOutages(store, parts, unwritten, Date.now());
}

/** Reads from the store; `undefined` without an answer in time. */
function readInTime<T>(read: (db: Db) => Promise<T>): Promise<T | undefined> {
  return withTimeout(foundWithinMs, store().then(read)).catch(() => undefined);
}

/** When the oldest waiting mail became due, Unix milliseconds; infinity if none waits. Throws if no account can be read. */
async function findOldestDue(db: Db, nowMs: number): Promise<number> {
  const [backlogs] = await Promise.all([
    findBacklogs(db, nowMs),
    db.selectFrom("accounts").select("id").limit(1).execute(),
  ]);
  return Math.min(...backlogs.map(({ oldestDueAtMs }) => oldestDueAtMs));
}

/** A time in UTC, to the second: the reader's time zone is not known here. */
export function clock(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(11, 19)} UTC`;
}
