import { randomBytes } from "node:crypto";
import { hourMs } from "@/lib/config/durations";
import { asIso } from "@/lib/config/instants";
import { formerSecretHours } from "@/lib/config/lifetimes";
import { auditedTransaction, type Operator } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { type EventType, eventTypeNames } from "@/lib/events/event";
import { numberEvents, readLastNumber } from "@/lib/events/event-list";
import { isSuccess, parseReceiver, Receiver } from "@/lib/events/receiver";
import { makeSecret, signDelivery } from "@/lib/events/signature";
import { ApiError } from "@/lib/http/errors";
import { seal, sealedBy, unseal } from "@/lib/runtime/seal";

export type WebhookRow = Tables["webhooks"];

const purpose = "webhook:v1";
const maxWebhooks = 50;

type Act = { by?: Operator };

/**
 * Adds a webhook, which gets what happens from now on. Throws an {@link ApiError} if its address cannot be one.
 *
 * @param types - only these events; without it, all
 * @param isAsymmetric - whether it gets a public key instead of a secret
 * @returns its id, with what the receiver needs: that is shown nowhere again
 */
export async function addWebhook(
  db: Db,
  {
    url,
    types,
    isAsymmetric = false,
    by = "operator",
  }: { url: string; types?: EventType[] | undefined; isAsymmetric?: boolean } & Act,
  nowMs: number,
) {
  const { href } = parseReceiver(url);
  const id = `wh_${randomBytes(12).toString("base64url")}`;
  const { secret, told } = makeSecret(isAsymmetric);
  await change(db, { by, what: "webhook add", id }, nowMs, async (transaction) => {
    while ((await numberEvents(transaction, 1000)) === 1000);
    const { count } = await transaction
      .selectFrom("webhooks")
      .select(({ fn }) => fn.countAll<number>().as("count"))
      .executeTakeFirstOrThrow();
    if (Number(count) >= maxWebhooks)
      throw new ApiError("invalid_request", {
        message: `There are ${maxWebhooks} webhooks already.`,
        hint: "Remove one first.",
      });
    await transaction
      .insertInto("webhooks")
      .values({
        id,
        url: href,
        types: types?.join() ?? null,
        sealed_secret: seal(purpose, id, secret),
        added_at_ms: nowMs,
        position: await readLastNumber(transaction),
        version: 1,
        lease_until_ms: 0,
      })
      .execute();
  });
  return { id, ...told };
}

/** All webhooks, in the order in which they were added. */
export function listWebhooks(db: Db): Promise<WebhookRow[]> {
  return db.selectFrom("webhooks").selectAll().orderBy("added_at_ms").orderBy("id").execute();
}

/** The webhook with this id. Throws an {@link ApiError} if there is none. */
async function findWebhook(db: Db, id: string): Promise<WebhookRow> {
  const row = await db.selectFrom("webhooks").selectAll().where("id", "=", id).executeTakeFirst();
  if (row) return row;
  throw new ApiError("not_found", {
    message: "There is no such webhook.",
    hint: "It may have been removed: look at the list.",
  });
}

/** Removes a webhook with its deliveries. Throws an {@link ApiError} if there is none. */
export function removeWebhook(db: Db, id: string, { by = "operator" }: Act, nowMs: number): Promise<void> {
  return change(db, { by, what: "webhook remove", id }, nowMs, async (transaction) => {
    await findWebhook(transaction, id);
    await transaction.deleteFrom("webhooks").where("id", "=", id).execute();
  });
}

/** Gives a webhook a new secret of the same kind; the one before signs too for a day. Returns as {@link addWebhook} does. */
export async function rotateWebhook(db: Db, id: string, { by = "operator" }: Act, nowMs: number) {
  const { sealed_secret } = await findWebhook(db, id);
  // A private key is longer than a secret, also sealed: that shows if no APP_SECRET opens it, for which rotating is the remedy.
  const isAsymmetric = sealed_secret.length > seal(purpose, id, makeSecret(false).secret).length;
  const { secret, told } = makeSecret(isAsymmetric);
  await change(db, { by, what: "webhook rotate", id }, nowMs, async (transaction) => {
    const { sealed_secret, version } = await findWebhook(transaction, id);
    const former = { sealed_former: sealed_secret, former_until_ms: nowMs + formerSecretHours * hourMs };
    await transaction
      .updateTable("webhooks")
      .set({ sealed_secret: seal(purpose, id, secret), ...former, version: version + 1 })
      .where("id", "=", id)
      .execute();
  });
  return { id, ...told };
}

/** Sends what happened since an instant again, in its order, and starts a webhook that was given up. */
export function resendSince(
  db: Db,
  id: string,
  sinceMs: number,
  { by = "operator" }: Act,
  nowMs: number,
): Promise<void> {
  return change(db, { by, what: "webhook resend", id }, nowMs, async (transaction) => {
    const before = await transaction
      .selectFrom("events")
      .select(({ fn }) => fn.min("number").as("first"))
      .where("at_ms", ">=", sinceMs)
      .where("number", "is not", null)
      .executeTakeFirst();
    if (before?.first == null) return restart(transaction, id, {});
    await transaction
      .deleteFrom("webhook_deliveries")
      .where("webhook_id", "=", id)
      .where("number", ">=", before.first)
      .execute();
    await restart(transaction, id, { position: before.first - 1 });
  });
}

/** Sends one event again. Throws an {@link ApiError} if it is not here any more. */
export function resendOne(
  db: Db,
  id: string,
  event: string,
  { by = "operator" }: Act,
  nowMs: number,
): Promise<void> {
  return change(db, { by, what: "webhook resend", id }, nowMs, async (transaction) => {
    const row = await transaction
      .selectFrom("events")
      .select(["number", "id as event_id", "account_id", "type"])
      .where("id", "=", event)
      .executeTakeFirst();
    if (row?.number == null)
      throw new ApiError("not_found", {
        message: "This event is no longer here.",
        hint: "Events are kept for a month.",
      });
    const { number, ...told } = row;
    await restart(transaction, id, {});
    const again = { state: "waiting", attempts: 0, first_at_ms: null, next_at_ms: nowMs };
    await transaction
      .insertInto("webhook_deliveries")
      .values({ webhook_id: id, number, ...told, ...again })
      .onConflict((conflict) => conflict.columns(["webhook_id", "number"]).doUpdateSet(again))
      .execute();
  });
}

/** Starts a webhook that was given up, where it stopped. */
export function startAgain(db: Db, id: string, { by = "operator" }: Act, nowMs: number): Promise<void> {
  return change(db, { by, what: "webhook start", id }, nowMs, (transaction) => restart(transaction, id, {}));
}

/** Makes the instance that delivers begin anew, and at once, with three days for what waits. */
async function restart(transaction: Db, id: string, fields: { position?: number }): Promise<void> {
  const { version } = await findWebhook(transaction, id);
  await transaction
    .updateTable("webhook_deliveries")
    .set({ attempts: 0, first_at_ms: null, next_at_ms: 0 })
    .where("webhook_id", "=", id)
    .where("state", "=", "waiting")
    .execute();
  await transaction
    .updateTable("webhooks")
    .set({ ...fields, version: version + 1, failing_since_ms: null, stopped_at_ms: null })
    .where("id", "=", id)
    .execute();
}

/**
 * Sends an event of the type `webhook.test`. A webhook that was given up starts again if it is accepted. Throws an
 * {@link ApiError} if nothing can be signed.
 */
export async function testWebhook(db: Db, id: string, act: Act, nowMs: number) {
  const row = await findWebhook(db, id);
  if (isLocked(row))
    throw new ApiError("invalid_request", {
      message: "The secret of this webhook was encrypted with another APP_SECRET, so nothing is sent to it.",
      hint: "Set that as APP_SECRET_PREVIOUS, for the server and for commands. If it is lost, rotate the secret of the webhook, and give the new one to its receiver.",
    });
  const event = `evt_${randomBytes(16).toString("hex")}`;
  const body = JSON.stringify({
    type: "webhook.test",
    timestamp: new Date(nowMs).toISOString(),
    data: { account: null },
  });
  const receiver = new Receiver(new URL(row.url));
  const { status, answer } = await receiver.post(
    signDelivery(event, body, secretsOf(row, nowMs), nowMs),
    body,
  );
  receiver.close();
  const isAccepted = isSuccess(status);
  if (isAccepted && row.failing_since_ms !== null) await startAgain(db, id, act, nowMs);
  return { status, answer, isAccepted };
}

/** The states of a webhook. To one that is stopped or locked nothing is sent until an operator acts. */
export const webhookStates = ["works", "failing", "stopped", "locked"] as const;

export function stateOf(row: WebhookRow): (typeof webhookStates)[number] {
  if (isLocked(row)) return "locked";
  if (row.stopped_at_ms !== null) return "stopped";
  return row.failing_since_ms !== null ? "failing" : "works";
}

/** A webhook as operators see it. */
export async function describeWebhook(db: Db, row: WebhookRow) {
  const { id, url, types, added_at_ms, failing_since_ms, stopped_at_ms } = row;
  const counts = await db
    .selectFrom("webhook_deliveries")
    .select(["state", ({ fn }) => fn.countAll<number>().as("count")])
    .where("webhook_id", "=", id)
    .where("state", "<>", "delivered")
    .groupBy("state")
    .execute();
  const count = (state: string) => Number(counts.find((one) => one.state === state)?.count ?? 0);
  const { last, swept } = await db
    .selectFrom("event_numbers")
    .select(["last", "swept"])
    .where("id", "=", 1)
    .executeTakeFirstOrThrow();
  return {
    id,
    url,
    events: types?.split(",") ?? null,
    state: stateOf(row),
    failingSince: asIso(failing_since_ms),
    stoppedSince: asIso(stopped_at_ms),
    /** What was not yet looked at is counted whatever its type. */
    waiting: count("waiting") + (last - Math.max(row.position, swept)),
    failed: count("failed"),
    addedAt: asIso(added_at_ms),
  };
}

/** The deliveries of a webhook's last fifty events, with what the receiver said last, newest first. */
export function latestDeliveries(db: Db, id: string): Promise<Tables["webhook_deliveries"][]> {
  const deliveries = db.selectFrom("webhook_deliveries").selectAll().where("webhook_id", "=", id);
  return deliveries.orderBy("number", "desc").limit(50).execute();
}

/** When the last event that a webhook got was delivered to it; `undefined` if none was in the days that events are kept. */
export async function lastDelivered(db: Db, id: string): Promise<number | undefined> {
  const last = await db
    .selectFrom("webhook_deliveries")
    .select("at_ms")
    .where("webhook_id", "=", id)
    .where("state", "=", "delivered")
    .orderBy("number", "desc")
    .limit(1)
    .executeTakeFirst();
  return last?.at_ms ?? undefined;
}

/** The secrets that sign at `nowMs`, the newest first, without those that were sealed with another `APP_SECRET`. */
export function secretsOf(
  { id, sealed_secret, sealed_former, former_until_ms }: WebhookRow,
  nowMs: number,
): string[] {
  const sealed = [sealed_secret, nowMs < (former_until_ms ?? 0) ? sealed_former : null];
  return sealed.flatMap((one) => (one === null ? [] : (unseal(purpose, id, one) ?? [])));
}

/** Which `APP_SECRET` sealed a webhook's secret. */
export const findSealer = ({ id, sealed_secret }: WebhookRow) => sealedBy(purpose, id, sealed_secret);

/** Whether its secret cannot be opened, so nothing can be signed. */
export const isLocked = (row: WebhookRow) => findSealer(row) === undefined;

/** Seals the secrets with the current `APP_SECRET`, unless they are already. */
export async function resealWebhooks(db: Db, nowMs: number): Promise<void> {
  for (const webhook of await listWebhooks(db)) {
    if (findSealer(webhook) !== "previous") continue;
    const { id, sealed_secret, sealed_former } = webhook;
    const sealAnew = (sealed: string | null) => {
      const opened = sealed === null ? undefined : unseal(purpose, id, sealed);
      return opened === undefined ? null : seal(purpose, id, opened);
    };
    await change(db, { by: "service", what: "webhook reseal", id }, nowMs, async (transaction) => {
      await transaction
        .updateTable("webhooks")
        .set({
          sealed_secret: sealAnew(sealed_secret) ?? sealed_secret,
          sealed_former: sealAnew(sealed_former),
        })
        .where("id", "=", id)
        .where("sealed_secret", "=", sealed_secret)
        .execute();
    });
  }
}

/** Parses names of events with commas between them; `undefined` if one is unknown. */
export function parseTypes(text: string): EventType[] | undefined {
  const names = text.split(",").map((name) => name.trim());
  const types = eventTypeNames.filter((type) => names.includes(type));
  return types.length === new Set(names).size ? types : undefined;
}

/** Changes a webhook, and records where it sends what. */
function change<T>(
  db: Db,
  { by, what, id }: { by: Operator | "service"; what: string; id: string },
  nowMs: number,
  work: (transaction: Db) => Promise<T>,
): Promise<T> {
  const readState = async (transaction: Db) => {
    const row = await transaction.selectFrom("webhooks").selectAll().where("id", "=", id).executeTakeFirst();
    // The rest of an address may be a secret.
    return row && { receiver: new URL(row.url).host, types: row.types, version: row.version };
  };
  return auditedTransaction(db, { by, what, whom: id, readState }, nowMs, work);
}
