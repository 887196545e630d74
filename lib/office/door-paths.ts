/** The addresses that need no session, and those of the passkey. */
export const doors = {
  enter: "/enter",
  enterOptions: "/enter/options",
  enterDone: "/enter/passkey",
  enrol: "/enrol",
  enrolOptions: "/enrol/options",
  enrolDone: "/enrol/passkey",
  proofOptions: "/proof/options",
  proofDone: "/proof/passkey",
  leave: "/leave",
} as const;
