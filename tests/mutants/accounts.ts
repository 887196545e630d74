import type { Mutant } from "@/tests/mutants/mutant";

export const accounts: Mutant[] = [
  {
    file: "lib/accounts/entitlement.ts",
    mistake: "a trial runs at its very end",
    was: "leftMs <= 0",
    becomes: "leftMs < 0",
    tests: ["tests/lib/accounts/entitlement.test.ts"],
  },
  {
    file: "lib/accounts/entitlement.ts",
    mistake: "an app is told to ask again after its trial's end",
    was: "Math.min(askAgainSeconds, Math.floor(leftMs / 1000))",
    becomes: "askAgainSeconds",
    tests: ["tests/lib/accounts/entitlement.test.ts"],
  },
  {
    file: "lib/accounts/ledger.ts",
    mistake: "a balance goes below 0",
    was: '.where((column) => column("credit_thousandths", ">=", -entry.thousandths))',
    becomes: "",
    tests: ["tests/lib/accounts/ledger.test.ts", "tests/lib/admin/main.test.ts"],
  },
  {
    file: "lib/accounts/invitations.ts",
    mistake: "an invitation that has run out opens an account",
    was: '.where("expires_at_ms", ">", nowMs)',
    becomes: "",
    tests: ["tests/app/pages/invitation.test.ts"],
  },
  {
    file: "lib/admin/erasure.ts",
    mistake: "the sessions of an erased person stay",
    was: 'await transaction.deleteFrom("local_sessions").where("account_id", "=", id).execute();',
    becomes: "",
    tests: ["tests/lib/admin/person.test.ts"],
  },
];
