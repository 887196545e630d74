import { toCredits } from "@/lib/accounts/credits/ledger";

const number = new Intl.NumberFormat("en");

/** An amount in thousandths as credits, with a true minus. */
export const formatCredits = (thousandths: number) => number.format(toCredits(thousandths)).replace("-", "−");
