import { accounts } from "@/tests/mutants/accounts";
import { billing } from "@/tests/mutants/billing";
import { bounds } from "@/tests/mutants/bounds";
import { bystanders } from "@/tests/mutants/bystanders";
import { caching } from "@/tests/mutants/caching";
import { connect } from "@/tests/mutants/connect";
import { credits } from "@/tests/mutants/credits";
import { events } from "@/tests/mutants/events";
import { mails } from "@/tests/mutants/mails";
import { neighbours } from "@/tests/mutants/neighbours";
import { others } from "@/tests/mutants/others";
import { quotas } from "@/tests/mutants/quotas";
import { rivals } from "@/tests/mutants/rivals";
import { sessions } from "@/tests/mutants/sessions";
import { signIn } from "@/tests/mutants/sign-in";

const areas = {
  quotas,
  caching,
  sessions,
  accounts,
  mails,
  "sign-in": signIn,
  bounds,
  connect,
  billing,
  credits,
  events,
  bystanders,
  others,
  neighbours,
  rivals,
};

export type Mutant = {
  area: string;
  test: string;
  file: string;
  mistake: string;
  was: string;
  becomes: string;
};

/** All mistakes, each with its area. */
export const mutants: Mutant[] = Object.entries(areas).flatMap(([area, tests]) =>
  Object.entries(tests).flatMap(([test, files]) =>
    Object.entries(files).flatMap(([file, mistakes]) =>
      Object.entries(mistakes).map(([mistake, change]) => {
        const [was, becomes] = typeof change === "string" ? [change, ""] : change;
        return { area, test, file, mistake, was, becomes };
      }),
    ),
  ),
);
