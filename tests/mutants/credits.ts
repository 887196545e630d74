import type { Mistakes } from "@/tests/mutants/mutant";

export const credits: Mistakes = {
  "tests/lib/backend/exactness.drill.ts": {
    "lib/backend/credit-writes.ts": {
      "the key of a request is not kept, so its repetition spends again":
        "  await keepAnswers(transaction, written);\n",
      "a batch that fails has spent its first part": [
        "const answer = draft.attempt(() =>",
        "const answer = ((work: () => string) => work())(() =>",
      ],
    },
    "lib/backend/credit-rules.ts": {
      "what is held can be spent too": [
        "    const balance = spendable(account);\n    if",
        "    const balance = account.credit_thousandths;\n    if",
      ],
      "a release frees nothing": ['if (as === "released")', "if (!as)"],
      "what a hold held is freed only in part": [
        "this.change(account, { held_thousandths: account.held_thousandths - hold.thousandths });\n    this.require",
        "this.change(account, { held_thousandths: account.held_thousandths - taken });\n    this.require",
      ],
      "a spend is given back twice": ["spent.reversed_thousandths + given }", "0 }"],
      "the ledger goes back with the clock": [
        "return Math.max(this.nowMs, last_at_ms ?? 0);",
        "return this.nowMs;",
      ],
    },
    "lib/backend/amount.ts": {
      "an amount is rounded down as a float": [
        'Number(kept.padEnd(point, "0"))',
        "Math.floor(Number(text) * 1000)",
      ],
    },
    "lib/accounts/credits/ledger.ts": {
      "an expired hold is freed a minute later": [
        '.where("expires_at_ms", "<=", nowMs)',
        '.where("expires_at_ms", "<=", nowMs - 60_000)',
      ],
      "a hold is freed before its end": [
        '.where("expires_at_ms", "<=", nowMs)',
        '.where("expires_at_ms", "<=", nowMs + 60_000)',
      ],
      "an expired hold frees its account of nothing": [
        'held_thousandths", "-", freed',
        'held_thousandths", "-", 0',
      ],
    },
    "lib/backend/entry-list.ts": {
      "an entry is listed by a number of which another one has the same": [
        "number: last + at + 1",
        "number: last + at",
      ],
      "what came since a restore is left out for who goes on from a number of before": [
        "if (number === 0) return 0;",
        "if (number !== undefined) return number;",
      ],
    },
  },
};
