import { renewBrowserSession } from "@/lib/auth/browser-session";
import { writeSession } from "@/lib/auth/local-sign-in";
import { fulfil } from "@/lib/billing/fulfilment";
import { settings } from "@/lib/config/settings";
import { type Db, store } from "@/lib/db/store";
import { readCookie } from "@/lib/http/cookies";
import { redirectTo } from "@/lib/http/form";
import { createHandler, type HandlerRequest } from "@/lib/http/handler";
import { actions, pages } from "@/lib/http/pages";
import { counter } from "@/lib/rate-limit/rate-limit";
import { log } from "@/lib/runtime/log";

/**
 * Takes the browser back from Stripe Checkout. It fulfils what was bought, so that /home shows it also if the webhook is
 * late; the address only names the checkout, whose account and amount Stripe has. Checkouts that no one here began, and
 * settled ones, cause no call to Stripe.
 */
export const GET = createHandler(actions.returnFromCheckout, async (call) => {
  const id = call.url.searchParams.get("session");
  const outcome = id ? await settle(id, call.nowMs) : "cancelled";
  return redirectTo({ to: `${pages.home.path}?checkout=${outcome}`, cookies: await renew(call) });
});

async function settle(id: string, nowMs: number): Promise<"bought" | "pending"> {
  try {
    const db = await store();
    if ((await readState(db, id)) === "open" && (await mayAsk(id)))
      await fulfil(db, { checkout: id }, "return", nowMs);
    return (await readState(db, id)) === "fulfilled" ? "bought" : "pending";
  } catch (failure) {
    log().warn({ err: failure }, "a purchase was not fulfilled at the return");
    return "pending";
  }
}

/** Whether the return of a checkout may cause another call to Stripe: anyone may repeat it. */
async function mayAsk(id: string): Promise<boolean> {
  const returns = counter("checkout-returns", 10, { windowSeconds: 600 });
  return (await returns.consume(id, performance.now())).allowed;
}

async function readState(db: Db, session: string): Promise<string | undefined> {
  const rows = db.selectFrom("billing_checkouts").select("state").where("session_id", "=", session);
  return (await rows.executeTakeFirst())?.state;
}

/** A session token lives a minute, and paying takes longer: without this, /home would renew it and forget the outcome. */
async function renew({ headers, nowMs }: HandlerRequest): Promise<string[]> {
  const client = settings().signIn.kind === "local" ? readCookie(headers, "office-client") : undefined;
  const session = client && (await renewBrowserSession(await store(), client, nowMs).catch(() => undefined));
  return session ? [writeSession(session)] : [];
}
