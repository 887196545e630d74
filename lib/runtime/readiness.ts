import { processSingleton } from "@/lib/process-singleton";

const reasons = () => processSingleton("readiness", () => new Set<string>());

/**
 * Says in a few words why this process is not to be sent requests: until what this answers is called, or for good.
 * What several instances share is no reason once it has been there: all would be taken away with it.
 */
export function blockReadiness(reason: string): () => void {
  reasons().add(reason);
  return () => reasons().delete(reason);
}

/** Why this process is not ready; empty when it is. */
export function readinessProblems(): string[] {
  return [...reasons()];
}
