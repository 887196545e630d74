/** Why a mistake changes nothing that anyone sees, by its file and change. */
export const equivalents: Record<string, string> = {
  "lib/billing/fulfilment/bought-credits.ts: due < 0 → <=":
    "with nothing due no entry is written, and what can be spent is never below 0",
  'lib/billing/stripe/payments.ts: && without typeof intent === "object"': "a text has no charge either",
  "lib/backend/inputs.ts: && without thousandths !== undefined":
    "undefined is not below any number, nor above",
  "lib/billing/stripe/calls.ts: || without !(failure instanceof Error)": "nothing else is thrown",
};
