/** Currencies that Stripe counts in hundredths, although they have none. */
const countedInHundredths = ["isk", "ugx"];

/** For example `€49.00`, of an amount in the currency's smallest unit. */
export function moneyInWords(amount: number, currency: string): string {
  const format = new Intl.NumberFormat("en", { style: "currency", currency });
  const { maximumFractionDigits: decimals = 2 } = format.resolvedOptions();
  return format.format(amount / 10 ** (countedInHundredths.includes(currency) ? 2 : decimals));
}
