import { perProcess } from "@/lib/per-process";

const reasons = perProcess("readiness", () => new Set<string>());

/**
 * Marks this process as not ready for requests, with a short reason, until the returned function is called.
 *
 * Do not use it for an outage of something that all instances share: it would take all of them out of service.
 */
export function blockReadiness(reason: string): () => void {
  reasons().add(reason);
  return () => reasons().delete(reason);
}

/** The reasons why this process is not ready; empty when it is. */
export function readinessProblems(): string[] {
  return [...reasons()];
}
