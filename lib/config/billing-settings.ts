import type { Environment } from "@/lib/config/env-files";
import { isLoopback } from "@/lib/config/loopback";

/** The settings of purchases at Stripe. */
export type BillingSettings = NonNullable<ReturnType<typeof parseBilling>>;

const needed = ["STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET", "STRIPE_LICENCE_PRICES"] as const;
const choices = {
  LAPSED_PLAN: ["trial-ended", "hobby"],
  STRIPE_TAX: ["none", "automatic"],
  STRIPE_PROMOTION_CODES: ["off", "on"],
} as const;
const others = ["STRIPE_CREDIT_PRICES", "LICENCE_GRACE_DAYS", "STRIPE_API_URL"];

const defaultGraceDays = 14;
const maxPrices = 10; // each is read at Stripe to show it

/** Parses the settings of billing and adds one line per problem to `faults`; no line contains a secret. */
export function parseBilling(env: Environment, faults: string[]) {
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecret, LICENCE_GRACE_DAYS } = env;
  if ([...needed, ...Object.keys(choices), ...others].every((name) => !env[name])) return undefined;
  const missing = needed.filter((name) => !env[name]);
  if (!secretKey || !webhookSecret || missing.length > 0) {
    faults.push(`${missing.join(", ")}: missing, while other settings of billing are set`);
    return undefined;
  }
  if (!/^[sr]k_(live|test)_\w+$/.test(secretKey))
    faults.push("STRIPE_SECRET_KEY: is not a secret or restricted key of Stripe (sk_… or rk_…)");
  if (!/^whsec_\w+$/.test(webhookSecret))
    faults.push("STRIPE_WEBHOOK_SECRET: is not a signing secret (whsec_…)");
  const isChosen = (name: keyof typeof choices): boolean => {
    const [usual, other] = choices[name];
    if (env[name] && env[name] !== usual && env[name] !== other)
      faults.push(`${name}: must be ${usual} or ${other}`);
    return env[name] === other;
  };
  if (LICENCE_GRACE_DAYS && !/^\d{1,3}$/.test(LICENCE_GRACE_DAYS))
    faults.push("LICENCE_GRACE_DAYS: must be a whole number of days from 0 to 999");
  const [licencePrices, creditPrices] = [env.STRIPE_LICENCE_PRICES, env.STRIPE_CREDIT_PRICES].map(
    (list = "") => list.split(",").flatMap((id) => id.trim() || []),
  ) as [string[], string[]];
  const prices = [...licencePrices, ...creditPrices];
  for (const id of prices.filter((id) => !/^price_\w{1,100}$/.test(id)))
    faults.push(`STRIPE_LICENCE_PRICES, STRIPE_CREDIT_PRICES: ${id} is not the id of a price (price_…)`);
  if (licencePrices.length === 0 || new Set(prices).size < prices.length || prices.length > maxPrices)
    faults.push(
      `STRIPE_LICENCE_PRICES, STRIPE_CREDIT_PRICES: must name 1 to ${maxPrices} prices, each of them once`,
    );
  const apiUrl =
    env.STRIPE_API_URL && URL.canParse(env.STRIPE_API_URL) ? new URL(env.STRIPE_API_URL) : undefined;
  if (env.STRIPE_API_URL && !(apiUrl?.protocol === "http:" && isLoopback(apiUrl.hostname)))
    faults.push("STRIPE_API_URL: must be an http address on loopback; it is for tests only");
  return {
    secretKey,
    webhookSecret,
    licencePrices,
    creditPrices,
    /** The plan of an account on a trial after its licence. */
    lapsedPlan: isChosen("LAPSED_PLAN") ? ("hobby" as const) : ("trial-ended" as const),
    /** How long a licence goes on after the end of what was paid, while Stripe still tries to collect. */
    graceDays: Number(LICENCE_GRACE_DAYS || defaultGraceDays),
    hasTax: isChosen("STRIPE_TAX"),
    hasPromotionCodes: isChosen("STRIPE_PROMOTION_CODES"),
    /** The address of a fake Stripe on loopback; undefined means Stripe's own. */
    apiUrl,
  };
}
