import type { Server } from "node:http";
import { Call } from "@/lib/http/call";
import { createOffice } from "@/lib/office/handler";
import { inBackground } from "@/lib/runtime/background-loop";
import { createBoundedServer } from "@/lib/server/bounded-server";
import { send } from "@/lib/server/exchange";
import { NodeSource } from "@/lib/server/node-source";

/** Creates the server of the operators' office, on a port of its own. `url` is `OFFICE_URL`. */
export function createOfficeServer(url: string): Server {
  const { site, answer } = createOffice(url);
  return createBoundedServer((incoming, outgoing) =>
    inBackground(async () => {
      const call = new Call(new NodeSource(incoming, outgoing), site);
      await send(answer(call), incoming, outgoing, call.client);
    }),
  );
}
