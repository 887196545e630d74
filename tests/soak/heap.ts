import { once } from "node:events";
import type { World } from "./world";

/**
 * What the service keeps on its heap, in megabytes: after a collection, because its memory has in it what V8 has not yet
 * thrown away, and grows for an hour with nothing kept.
 */
export async function readLiveHeap({ service, inspectorPort }: World): Promise<number> {
  process.kill(service.pid, "SIGUSR1"); // opens Node's inspector
  const socket = new WebSocket(await findInspector(`http://127.0.0.1:${inspectorPort}/json`));
  await once(socket, "open");
  let id = 0;
  const call = async (method: string) => {
    socket.send(JSON.stringify({ id: ++id, method }));
    const [{ data }] = await once(socket, "message");
    return JSON.parse(data).result;
  };
  await call("HeapProfiler.collectGarbage");
  const { usedSize } = await call("Runtime.getHeapUsage");
  socket.close();
  return usedSize / 1024 / 1024;
}

async function findInspector(address: string): Promise<string> {
  for (;;) {
    const answer = await fetch(address).catch(() => undefined);
    const [target] = answer?.ok ? ((await answer.json()) as { webSocketDebuggerUrl: string }[]) : [];
    if (target) return target.webSocketDebuggerUrl;
  }
}
