import { settings } from "@/lib/config/settings";
import { type Db, store } from "@/lib/db/store";
import { findBacklogs } from "@/lib/mail/backlog";
import { processSingleton } from "@/lib/process-singleton";
import { probeCounterStore } from "@/lib/rate-limit/rate-limit";
import { outageSince } from "@/lib/runtime/outages";
import { readinessProblems } from "@/lib/runtime/readiness";
import { withTimeout } from "@/lib/runtime/timeout";
import { listOutages, type Outage, recordOutages, type Unwritten } from "@/lib/status/outages";

/** The three colours of a status, and `unknown`. */
export type LightColour = "good" | "soon" | "stopped" | "unknown";

/** A part of this service and its current state. An outage is recorded, unlike a start or a missing setting. */
export type Part = { name: string; colour: LightColour; says: string; isOutage?: true };

const foundWithinMs = 2000; // the timeout of an account read
const countersWithinMs = 400; // the timeout of a request's counters
const lookAgainAfterMs = 1000; // for all viewers together
const mailWaitsAfterMs = 2 * 60_000; // 2 minutes: the runner polls every few seconds

/** The state of every part, as this process knows it or checks it now. */
export async function listParts(nowMs: number): Promise<Part[]> {
  const { oldestDueAtMs, areCountersThere } = await lookAround(nowMs);
  const isStoreThere = oldestDueAtMs !== undefined;
  return [
    tellOfApi(),
    tellOfAccounts(isStoreThere),
    tellOfMail(oldestDueAtMs, nowMs),
    tellOfCounters(areCountersThere),
    tellOfMcp(isStoreThere),
  ];
}

const unwritten: Unwritten = new Map();

/** Looks at every part, and records its outages. */
export async function watchOutages(): Promise<void> {
  await recordOutages(store, await listParts(Date.now()), unwritten, Date.now());
}

/** Checks other services at most once a second. */
function lookAround(nowMs: number): ReturnType<typeof readState> {
  const held = processSingleton("status", () => ({ atMs: nowMs, found: readState(nowMs) }));
  if (Math.abs(nowMs - held.atMs) >= lookAgainAfterMs) {
    held.atMs = nowMs;
    held.found = readState(nowMs);
  }
  return held.found;
}

async function readState(nowMs: number) {
  const [oldestDueAtMs, areCountersThere, outages] = await Promise.all([
    readInTime((db) => findOldestDue(db, nowMs)),
    askCounters(),
    readInTime((db) => listOutages(db, nowMs)),
  ]);
  return { oldestDueAtMs, areCountersThere, outages };
}

/** The outages of the last 90 days; `undefined` without a store. */
export async function readOutages(nowMs: number): Promise<Outage[] | undefined> {
  return (await lookAround(nowMs)).outages;
}

/** Reads from the store; `undefined` without an answer in time. */
async function readInTime<T>(read: (db: Db) => Promise<T>): Promise<T | undefined> {
  try {
    return await withTimeout(foundWithinMs, store().then(read));
  } catch {
    return undefined;
  }
}

/** When the oldest waiting mail became due, Unix milliseconds; 0 if none waits. Throws if no account can be read. */
async function findOldestDue(db: Db, nowMs: number): Promise<number> {
  const [backlogs] = await Promise.all([
    findBacklogs(db, nowMs),
    db.selectFrom("accounts").select("id").limit(1).execute(),
  ]);
  const due = backlogs.flatMap(({ due, oldestDueAtMs }) => (due > 0 ? [oldestDueAtMs] : []));
  return due.length > 0 ? Math.min(...due) : 0;
}

/** Whether the shared counters answer; `undefined` if each process counts for itself. */
async function askCounters(): Promise<boolean | undefined> {
  try {
    return (await probeCounterStore(countersWithinMs)) ? true : undefined;
  } catch {
    return false;
  }
}

function tellOfApi(): Part {
  const name = "Public API";
  if (readinessProblems().length === 0) return { name, colour: "good", says: "Works" };
  return { name, colour: "soon", says: "Starting or stopping: accepts no new visitors" };
}

function tellOfAccounts(isStoreThere: boolean): Part {
  const name = "Accounts and credits";
  if (!isStoreThere) return { name, colour: "stopped", says: "Unavailable", isOutage: true };
  const noWritesSinceMs = outageSince("writes");
  if (noWritesSinceMs !== undefined) {
    const says = `Can be read, not changed since ${clock(noWritesSinceMs)}`;
    return { name, colour: "soon", says, isOutage: true };
  }
  if (settings().signIn.kind === "none") return { name, colour: "soon", says: "Sign-in is not set up" };
  return { name, colour: "good", says: "Works" };
}

function tellOfMail(oldestDueAtMs: number | undefined, nowMs: number): Part {
  const name = "Mail";
  const failsSinceMs = outageSince("mail");
  if (failsSinceMs !== undefined) {
    const says = `Not accepted for delivery since ${clock(failsSinceMs)}`;
    return { name, colour: "stopped", says, isOutage: true };
  }
  if (oldestDueAtMs === undefined) return { name, colour: "unknown", says: "The store is unavailable" };
  if (oldestDueAtMs > 0 && nowMs - oldestDueAtMs > mailWaitsAfterMs)
    return { name, colour: "soon", says: `Delayed since ${clock(oldestDueAtMs)}`, isOutage: true };
  if (settings().mail.kind === "files") return { name, colour: "unknown", says: "Not being delivered" };
  return { name, colour: "good", says: "Works" };
}

function tellOfCounters(areThere: boolean | undefined): Part {
  const name = "Rate limits";
  if (areThere === false) {
    const says = "Counted separately on each instance: the shared counters are unavailable";
    return { name, colour: "soon", says, isOutage: true };
  }
  return { name, colour: "good", says: "Works" };
}

function tellOfMcp(isStoreThere: boolean): Part {
  const name = "MCP server";
  if (isStoreThere) return { ...tellOfApi(), name };
  return { name, colour: "soon", says: "Works, except the tools that read an account", isOutage: true };
}

/** A time in UTC, to the second: the reader's time zone is not known here. */
export function clock(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(11, 19)} UTC`;
}
