import { accounts } from "@/tests/mutants/accounts";
import { billing } from "@/tests/mutants/billing";
import { bounds } from "@/tests/mutants/bounds";
import { caching } from "@/tests/mutants/caching";
import { connect } from "@/tests/mutants/connect";
import { mails } from "@/tests/mutants/mails";
import type { Mutant } from "@/tests/mutants/mutant";
import { quotas } from "@/tests/mutants/quotas";
import { sessions } from "@/tests/mutants/sessions";
import { signIn } from "@/tests/mutants/sign-in";

const areas = { quotas, caching, sessions, accounts, mails, "sign-in": signIn, bounds, connect, billing };

/** All mistakes, each with its area. Those that need a full build come last. */
export const mutants: (Mutant & { area: string })[] = Object.entries(areas)
  .flatMap(([area, mistakes]) => mistakes.map((mutant) => ({ area, ...mutant })))
  .sort((one, other) => Number(one.isInPages ?? false) - Number(other.isInPages ?? false));
