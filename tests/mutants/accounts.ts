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
    mistake: "an erased person's sessions stay, with the account that they are of",
    was: 'await transaction.deleteFrom("accounts").where("id", "=", account.id).execute();',
    becomes: "",
    tests: ["tests/lib/admin/person.test.ts"],
  },
  {
    file: "lib/admin/erasure.ts",
    mistake: "what apps hold of an erased person's account stays",
    was: "for (const id of ids) await deleteAppState(transaction, id);",
    becomes: "",
    tests: ["tests/lib/admin/erasure.test.ts"],
  },
  {
    file: "lib/admin/erasure.ts",
    mistake: "the account that stays of an erased person keeps its id",
    was: "const id = pseudonymOf(account.id);",
    becomes: 'const id = account.id.concat("_");',
    tests: ["tests/lib/admin/erasure.test.ts"],
  },
  {
    file: "lib/store/mentions.ts",
    mistake: "an erased address stays where it is percent-encoded",
    was: "(?:%(?:25){0,4}|=)",
    becomes: "=",
    tests: ["tests/lib/store/mentions.test.ts"],
  },
];
