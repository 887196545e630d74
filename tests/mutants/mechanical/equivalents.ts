/** Why a mistake changes nothing that anyone sees, by its file and change. */
export const equivalents: Record<string, string> = {
  "lib/billing/fulfilment/bought-credits.ts: due < 0 → <=":
    "with nothing due no entry is written, and what can be spent is never below 0",
};
