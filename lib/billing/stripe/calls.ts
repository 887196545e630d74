import { globalAgent } from "node:https";
import type { Stripe } from "stripe";
import { answersWithinMs } from "@/lib/config/limits";
import { requireBilling } from "@/lib/http/checks/billing";
import { perProcess } from "@/lib/per-process";
import { loadLibrary } from "@/lib/runtime/load-library";
import { Places } from "@/lib/runtime/places";
import { withTimeout } from "@/lib/runtime/timeout";

/** Stripe refused a call or did not answer. Its message has no personal data. */
export class StripeFailure extends Error {
  constructor(
    message: string,
    /** Stripe's code, for example `resource_missing`; `busy` if Stripe was not asked: enough calls are running. */
    readonly code: string | undefined,
    /** The HTTP status; undefined if there was no answer, so that the call may have been carried out. */
    readonly status: number | undefined,
  ) {
    super(`Stripe: ${message}`);
  }
}

/** The id of an object that Stripe may have sent whole. */
export const idOf = (reference: string | { id: string }) =>
  typeof reference === "string" ? reference : reference.id;

/** Whether a subscription has ended at Stripe. */
export const hasEnded = ({ status }: Pick<Stripe.Subscription, "status">) =>
  ["canceled", "incomplete_expired"].includes(status);

/** The library, which is loaded on first use, so that a deployment without billing never loads it. */
export function stripeLibrary(): Promise<Stripe> {
  const { secretKey, apiUrl } = requireBilling();
  return perProcess("stripe", async () => {
    const { Stripe: StripeClient } = await loadLibrary(() => import("stripe"));
    const address = apiUrl && { protocol: "http" as const, host: apiUrl.hostname, port: Number(apiUrl.port) };
    return new StripeClient(secretKey, {
      // Node's own agent knows of NODE_USE_ENV_PROXY, and the library's does not.
      ...(address ?? { httpAgent: globalAgent }),
      timeout: answersWithinMs.stripe,
      maxNetworkRetries: 0,
      telemetry: false,
    });
  })();
}

/** Owners who buy have eight places that no delivery takes. A call in the background holds little while it waits. */
const places = perProcess(
  "places of calls to Stripe",
  () => new Places({ requests: 20, background: 12 }, { maxWaiting: 1000 }),
);
const waitsForMs = { requests: 2000, background: 5000 };

/** Calls Stripe, by default within two seconds, once one of our places is free. Throws a {@link StripeFailure} or a `TimeoutError`. */
export async function callStripe<T>(
  call: (stripe: Stripe) => Promise<T>,
  withinMs = answersWithinMs.stripe,
): Promise<T> {
  const stripe = await stripeLibrary();
  const taken = places();
  await taken.begin(waitsForMs, () => new StripeFailure("enough is being asked", "busy", 429));
  try {
    return await withTimeout(withinMs, call(stripe));
  } catch (failure) {
    if (!(failure instanceof Error) || !("rawType" in failure)) throw failure;
    // The library's errors carry the whole answer, which the log must not have.
    const { message, code, statusCode } = failure as Stripe.errors.StripeError;
    throw new StripeFailure(message, code, statusCode);
  } finally {
    taken.end();
  }
}

/** Reads one object by its id; `undefined` if our Stripe account has none with it. */
export async function findAtStripe<T>(call: (stripe: Stripe) => Promise<T>): Promise<T | undefined> {
  try {
    return await callStripe(call);
  } catch (failure) {
    if (failure instanceof StripeFailure && failure.code === "resource_missing") return undefined;
    throw failure;
  }
}

/** Deletes or cancels one object, unless our Stripe account has none with its id. */
export async function removeAtStripe(call: (stripe: Stripe) => Promise<object>): Promise<void> {
  await findAtStripe(call);
}

/** Reads a list at Stripe to its end, a hundred at a time. Without the object that it is of, it is empty. */
export async function* listAtStripe<T extends { id: string }>(
  call: (stripe: Stripe, page: Stripe.PaginationParams) => Promise<Stripe.ApiList<T>>,
): AsyncGenerator<T> {
  let starting_after: string | undefined;
  do {
    const page = { limit: 100, ...(starting_after && { starting_after }) };
    const { data = [], has_more = false } = (await findAtStripe((stripe) => call(stripe, page))) ?? {};
    yield* data;
    starting_after = has_more ? data.at(-1)?.id : undefined;
  } while (starting_after);
}

/**
 * Creates or changes something at Stripe, within ten seconds. With the same key, it is created once.
 *
 * @param call - passes `options` on to the library, which then waits for a concurrent request with the same key
 */
export function changeAtStripe<T>(
  key: string,
  call: (stripe: Stripe, options: Stripe.RequestOptions) => Promise<T>,
): Promise<T> {
  const options = { idempotencyKey: key, timeout: answersWithinMs.stripeCreation, maxNetworkRetries: 2 };
  return callStripe((stripe) => call(stripe, options), answersWithinMs.stripeCreation);
}

/** Ends a checkout: a session, or an automatic purchase's invoice. Stripe refuses for one that was paid, or is gone. */
export async function endAtStripe(id: string): Promise<void> {
  const unlessRefused = (failure: unknown) => {
    if (!(failure instanceof StripeFailure && (failure.status === 400 || failure.status === 404)))
      throw failure;
  };
  const end = (call: (stripe: Stripe) => Promise<object>) => callStripe(call).catch(unlessRefused);
  if (!id.startsWith("in_")) return void (await end((stripe) => stripe.checkout.sessions.expire(id)));
  await end((stripe) => stripe.invoices.voidInvoice(id));
  await end((stripe) => stripe.invoices.del(id));
}
