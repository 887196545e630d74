import { ConnectState } from "@/lib/connect/state";
import { store } from "@/lib/store/store";

/** Clients that have made themselves known (RFC 7591); each is forgotten at its end, which every approval puts off. */
export class RegisteredClients extends ConnectState {
  constructor() {
    super("Client");
  }

  /** How many there are. */
  async count(): Promise<number> {
    const db = await store();
    const { count } = await db
      .selectFrom("connect_state")
      .select((of) => of.fn.countAll().as("count"))
      .where("kind", "=", "Client")
      .where("expires_at_ms", ">", Date.now())
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  /** Keeps one for so much longer; nothing where a client is not one of these. */
  async keep(id: string, forSeconds: number): Promise<void> {
    const client = await this.find(id);
    if (client) await this.upsert(id, client, forSeconds);
  }
}
