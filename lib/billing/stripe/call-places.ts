import { perProcess } from "@/lib/per-process";
import { isInBackground } from "@/lib/runtime/background-loop";

const maxRunning = { all: 20, background: 12 }; // owners who buy have eight calls that no delivery takes
const maxWaiting = 1000; // a call in the background waits for a few seconds then, and holds little meanwhile
const waitMs = { owner: 2000, background: 5000 };

type Kind = keyof typeof waitMs;
type Places = { running: number; waiting: Record<Kind, (() => void)[]> };

const places = perProcess(
  "places of calls to Stripe",
  (): Places => ({
    running: 0,
    waiting: { owner: [], background: [] },
  }),
);

/**
 * Runs a call to Stripe when one of 20 places is free, owners' own requests first: deliveries and the reconciler share 12.
 * Throws `busy` if there is none for seconds.
 */
export async function inCallPlace<T>(busy: () => Error, call: () => Promise<T>): Promise<T> {
  const all = places();
  await takePlace(all, isInBackground() ? "background" : "owner", busy);
  try {
    return await call();
  } finally {
    all.running--;
    callNext(all);
  }
}

const isFree = ({ running }: Places, kind: Kind) =>
  running < (kind === "owner" ? maxRunning.all : maxRunning.background);

async function takePlace(all: Places, kind: Kind, busy: () => Error): Promise<void> {
  const line = all.waiting[kind];
  if (line.length >= maxWaiting) throw busy();
  if (line.length === 0 && isFree(all, kind)) {
    all.running++;
    return;
  }
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  line.push(resolve);
  const timer = setTimeout(() => {
    line.splice(line.indexOf(resolve), 1);
    reject(busy());
  }, waitMs[kind]);
  await promise.finally(() => clearTimeout(timer));
}

function callNext(all: Places): void {
  for (const kind of ["owner", "background"] as const) {
    const next = isFree(all, kind) ? all.waiting[kind].shift() : undefined;
    if (!next) continue;
    all.running++;
    next();
    return;
  }
}
