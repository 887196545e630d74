import { oncePerProcess } from "@/lib/once-per-process";

const reasons = () => oncePerProcess("readiness", () => new Set<string>());

/**
 * Says in a few words why this process is not to be sent requests: until what this answers is called, or for good.
 * What several instances share is no reason once it has been there: all would be taken away with it.
 */
export function holdReadiness(reason: string): () => void {
  reasons().add(reason);
  return () => reasons().delete(reason);
}

/** Why this process is not ready; empty when it is. */
export function whatIsNotReady(): string[] {
  return [...reasons()];
}
