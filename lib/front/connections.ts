import { readFileSync } from "node:fs";
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { groupAddress } from "@/lib/api/client-address";
import { connectionBounds } from "@/lib/settings/limits";

const keptFiles = 256; // for the store, the log, the pages' process, and all else that is no client

/**
 * Bounds the connections of a server: for all together below what the system lets us open, so that one too many is
 * closed at once and not left hanging, and for each address.
 *
 * @param mostPerAddress - `undefined` where the peer is a proxy, and so everybody's address
 */
export function limitConnections(server: Server, mostPerAddress: number | undefined): void {
  server.maxConnections = Math.min(connectionBounds.most, Math.max(1, openFiles() - keptFiles));
  if (!mostPerAddress) return;
  const open = new Map<string, number>();
  server.on("connection", (socket: Socket) => {
    const address = groupAddress(socket.remoteAddress ?? "");
    const count = (open.get(address) ?? 0) + 1;
    if (count > mostPerAddress) {
      socket.destroy();
      return;
    }
    open.set(address, count);
    socket.once("close", () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left > 0) open.set(address, left);
      else open.delete(address);
    });
  });
}

/** How many files this process may open; without a bound where the system does not say. */
function openFiles(): number {
  try {
    const [, files] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return files ? Number(files) : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
