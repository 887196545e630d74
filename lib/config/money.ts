/**
 * How many decimals an amount at Stripe has, where they are not two: https://docs.stripe.com/currencies. It is neither ISO
 * 4217's table nor that of `Intl`: ISK and UGX have no decimals and are counted in hundredths, and so are HUF, IDR and others
 * that `Intl` shows without any.
 */
const decimalsAtStripe: Readonly<Partial<Record<string, number>>> = Object.fromEntries([
  ...inList("bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf", 0),
  ...inList("bhd jod kwd omr tnd", 3),
]);

/** The exact amount with the currency's decimals, for example `49.00`, for a program or a spreadsheet. */
export function moneyAsDecimal(amount: number, currency: string): string {
  const decimals = decimalsAtStripe[currency.toLowerCase()] ?? 2;
  const digits = String(Math.abs(amount)).padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const sign = amount < 0 ? "-" : "";
  return decimals === 0 ? sign + whole : `${sign}${whole}.${digits.slice(-decimals)}`;
}

/** For example `€49.00` or `HUF 9,990`, of an amount in the smallest unit that Stripe has of the currency. */
export function moneyInWords(amount: number, currency: string): string {
  const decimals = decimalsAtStripe[currency.toLowerCase()] ?? 2;
  const value = amount / 10 ** decimals;
  const style = { style: "currency", currency } as const;
  const usual = new Intl.NumberFormat("en", style).resolvedOptions().maximumFractionDigits ?? decimals;
  const shown = Number.isInteger(value) ? Math.min(usual, decimals) : decimals;
  const digits = { minimumFractionDigits: shown, maximumFractionDigits: shown };
  return new Intl.NumberFormat("en", { ...style, ...digits }).format(value);
}

/** A price as price lists write it: `€49`, but `€49.50`. */
export function priceInWords(amount: number, currency: string): string {
  return withoutZeros(moneyInWords(amount, currency));
}

/** Writes the amounts of a column alike: without decimals if all are whole. */
export function moneyOfColumn(amounts: readonly number[], currency: string): (amount: number) => string {
  const inWords = amounts.every((amount) => /^[^.]*(\.0+)?$/.test(moneyInWords(amount, currency)))
    ? priceInWords
    : moneyInWords;
  return (amount) => inWords(amount, currency).replace("-", "−");
}

const withoutZeros = (words: string) => words.replace(/\.0+$/, "");

/** One of equal shares of a price, as the currency is usually written: `€82.50`, or `about €83.33` if that is not exact. */
export function shareInWords(amount: number, shares: number, currency: string): string {
  const share = amount / shares;
  const value = share / 10 ** (decimalsAtStripe[currency.toLowerCase()] ?? 2);
  const words = withoutZeros(new Intl.NumberFormat("en", { style: "currency", currency }).format(value));
  return Number.isInteger(share) && words === priceInWords(share, currency) ? words : `about ${words}`;
}

function inList(currencies: string, decimals: number) {
  return currencies.split(" ").map((currency) => [currency, decimals] as const);
}
