import { store } from "@/lib/db/store";
import { type BackgroundLoop, startBackgroundLoop } from "@/lib/runtime/background-loop";
import { recordOutages, type Unwritten } from "@/lib/status/outages";
import { listParts } from "@/lib/status/parts";

const lookEveryMs = 10_000; // 10 seconds

/** Looks at every part every ten seconds, and records its outages. */
export function startOutageWatch(): BackgroundLoop {
  const unwritten: Unwritten = new Map();
  const round = async () => recordOutages(store, await listParts(Date.now()), unwritten, Date.now());
  return startBackgroundLoop(round, {
    pauseMs: lookEveryMs,
    failed: "outages could not be recorded; they are when the store is back",
  });
}
