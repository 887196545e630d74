import type { ServerResponse } from "node:http";
import { maxRequestsInWork } from "@/lib/config/limits";
import { type ApiError, tooManyRequests } from "@/lib/http/errors";
import type { Client } from "@/lib/rate-limit/client";

const inWork = new Map<string, number>();

/**
 * Counts a request with a body among those in work of its client's network, until its response is sent or its connection
 * closed. Otherwise one client could keep every connection of the server busy, with bodies that never come. Returns a 429
 * if the client has too many. Unknown clients are not limited, because they cannot be told apart.
 */
export function countInWork({ network }: Client, outgoing: ServerResponse): ApiError | undefined {
  if (!network) return undefined;
  const count = inWork.get(network) ?? 0;
  if (count >= maxRequestsInWork) return tooManyRequests();
  inWork.set(network, count + 1);
  outgoing.on("close", () => {
    const left = (inWork.get(network) ?? 1) - 1;
    if (left > 0) inWork.set(network, left);
    else inWork.delete(network);
  });
  return undefined;
}
