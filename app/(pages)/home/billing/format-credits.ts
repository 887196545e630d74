import { toCredits } from "@/lib/accounts/credits/ledger";

/** An amount in thousandths as credits, with a true minus, and at least so many decimals. */
export const formatCredits = (thousandths: number, decimals = 0) =>
  toCredits(thousandths).toLocaleString("en", { minimumFractionDigits: decimals }).replace("-", "−");

/** How many decimals the amounts of a list need, in thousandths: none to three. */
export const decimalsIn = (amounts: number[]) =>
  Math.max(...amounts.map((thousandths) => `${toCredits(thousandths)}`.split(".")[1]?.length ?? 0));
