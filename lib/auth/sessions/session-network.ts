import type { Db } from "@/lib/db/store";
import { deriveMailId } from "@/lib/mail/mail";
import { enqueueMail } from "@/lib/mail/outbox/outbox";
import type { Client } from "@/lib/rate-limit/client";
import { groupAddress } from "@/lib/rate-limit/client-address";

/*
 * The networks that an app got its tokens from, or a browser was used from, as {@link clientNetwork} writes them: one for each
 * change, the last first. So a session that stays where it is writes none.
 */

/** A client's network for display: an IPv4 /24 or an IPv6 /48, too coarse for a household; `undefined` if unknown. */
export function clientNetwork({ knownAddress: address }: Client): string | undefined {
  if (!address) return undefined;
  // A browser may reach `localhost` by either address.
  const grouped = groupAddress(address === "::1" ? "127.0.0.1" : address);
  return grouped.includes(":")
    ? `${grouped.split(":").slice(0, 3).join(":")}::/48`
    : grouped.replace(/\d+$/, "0/24");
}

/** The network that gets an app's tokens. Those of hosted agents are one: an agent there uses whichever is free. */
export function tokenNetwork(client: Client): string | undefined {
  return client.isHosted ? "hosted-agents" : clientNetwork(client);
}

const maxNetworks = 8;

/** The networks in a session's row. */
export function readNetworks(stored: string | null): string[] {
  return stored?.split(" ") ?? [];
}

/** What the row says after tokens were got from this network. */
function addNetwork(networks: readonly string[], network: string): string {
  return [network, ...networks].slice(0, maxNetworks).join(" ");
}

/**
 * Whether a session changes between networks and back: it has come back twice. So a copy of its token or cookie shows that is
 * used elsewhere while the app or browser goes on, and not the one trip with a laptop.
 */
function isInTurn(networks: readonly string[]): boolean {
  return networks.length - new Set(networks).size >= 2;
}

/** The columns that name a session's networks: its last ones, and where one that has none was started. */
type Seen = { kind: string | null; renewed_from: string | null; network: string | null };

/** The networks of a session. A browser's begin with the one in which it signed in. */
export function networksOf({ kind, renewed_from, network }: Seen): string[] {
  return readNetworks(renewed_from ?? (kind === "browser" ? network : null));
}

/**
 * Notes the network that a session is used from, if it is another than before. Its owner gets one mail if it is in turn,
 * unless its tokens are bound to a key: then the app itself moves, and no copy of its tokens is used.
 */
export async function recordNetwork(
  transaction: Db,
  id: string,
  { network, isBound }: { network: string; isBound: boolean },
  nowMs: number,
): Promise<void> {
  const session = await transaction
    .selectFrom("local_sessions")
    .select(["kind", "renewed_from", "network", "in_turn_since_ms"])
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirst();
  const before = session ? networksOf(session) : [];
  if (!session || before[0] === network) return;
  const renewed_from = addNetwork(before, network);
  const isNew = !isBound && session.in_turn_since_ms === null && isInTurn(readNetworks(renewed_from));
  await transaction
    .updateTable("local_sessions")
    .set({ renewed_from, ...(isNew && { in_turn_since_ms: nowMs }) })
    .where("id", "=", id)
    .execute();
  if (isNew)
    await warnOwner(transaction, id, session.kind === "browser" ? "browser in turn" : "app in turn", nowMs);
}

type Warning = "replayed app" | "app in turn" | "browser in turn";

/** Mails the owner of a current session that someone else may use its tokens or its cookie. */
export async function warnOwner(transaction: Db, id: string, kind: Warning, nowMs: number): Promise<void> {
  const session = await transaction
    .selectFrom("local_sessions as session")
    .innerJoin("accounts", "accounts.id", "session.account_id")
    .select(["session.name", "app_origin", "email"])
    .where("session.id", "=", id)
    .where("expires_at_ms", ">", nowMs)
    .executeTakeFirst();
  if (!session) return;
  const { email: to, app_origin: origin } = session;
  const name = session.name ?? (kind === "browser in turn" ? "A browser" : "An app");
  const mailId = deriveMailId(`${kind.replaceAll(" ", "-")}:v1:${id}`);
  const mail = { kind, to, name, origin, atMs: nowMs };
  await enqueueMail(transaction, mail, { id: mailId, nowMs });
}
