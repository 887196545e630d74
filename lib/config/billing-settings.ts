import type { Environment } from "@/lib/config/env-files";
import { isLoopback } from "@/lib/config/loopback";

const needed = ["STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET"] as const;
/** They stand alone, but tell that billing is meant. */
const others = [
  "LAPSED_PLAN",
  "LAPSED_ASSISTANT_LIMIT",
  "REFUNDS",
  "LICENCE_GRACE_DAYS",
  "STRIPE_TAX",
  "STRIPE_PROMOTION_CODES",
];

export const billingNames = [
  ...needed,
  ...others,
  "STRIPE_LICENCE_PRICES",
  "STRIPE_CREDIT_PRICES",
  "STRIPE_API_URL",
];

const maxPrices = 10; // each is read at Stripe to show it

/** Parses the settings of Stripe that need each other, and adds one line per problem to `faults`; no line contains a secret. */
export function parseBilling(env: Environment, faults: string[]) {
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecret, STRIPE_API_URL } = env;
  if (billingNames.every((name) => !env[name])) return undefined;
  if (!secretKey || !webhookSecret) {
    const missing = needed.filter((name) => !env[name]);
    faults.push(`${missing.join(", ")}: missing, while other settings of billing are set`);
    return undefined;
  }
  if (!/^[sr]k_(live|test)_\w+$/.test(secretKey))
    faults.push("STRIPE_SECRET_KEY: is not a secret or restricted key of Stripe (sk_… or rk_…)");
  if (!/^whsec_\w+$/.test(webhookSecret))
    faults.push("STRIPE_WEBHOOK_SECRET: is not a signing secret (whsec_…)");
  const [licencePrices, creditPrices] = [env.STRIPE_LICENCE_PRICES, env.STRIPE_CREDIT_PRICES].map(
    (list = "") => list.split(",").flatMap((id) => id.trim() || []),
  ) as [string[], string[]];
  const prices = [...licencePrices, ...creditPrices];
  for (const id of prices.filter((id) => !/^price_\w{1,100}$/.test(id)))
    faults.push(`STRIPE_LICENCE_PRICES, STRIPE_CREDIT_PRICES: ${id} is not the id of a price (price_…)`);
  if (new Set(prices).size < prices.length || prices.length > maxPrices)
    faults.push(
      `STRIPE_LICENCE_PRICES, STRIPE_CREDIT_PRICES: must name at most ${maxPrices} prices, each of them once`,
    );
  const apiUrl = URL.parse(STRIPE_API_URL ?? "") ?? undefined;
  if (STRIPE_API_URL && !(apiUrl?.protocol === "http:" && isLoopback(apiUrl.hostname)))
    faults.push("STRIPE_API_URL: must be an http address on loopback; it is for tests only");
  return {
    secretKey,
    webhookSecret,
    licencePrices,
    creditPrices,
    /** The address of a fake Stripe on loopback; undefined means Stripe's own. */
    apiUrl,
  };
}
