import type { Server } from "node:http";
import { createOffice } from "@/lib/office/handler";
import { inBackground } from "@/lib/runtime/background-loop";
import { createBoundedServer } from "@/lib/server/bounded-server";
import { send } from "@/lib/server/exchange";

/** Creates the server of the operators' office, on a port of its own. `url` is `OFFICE_URL`. */
export function createOfficeServer(url: string): Server {
  const { site, answer } = createOffice(url);
  return createBoundedServer(site, (call, incoming, outgoing) =>
    inBackground(async () => send(answer(call), incoming, outgoing)),
  );
}
