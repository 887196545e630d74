/** The onboarding mails in order, and the days after the account is created when each is due. */
export const onboardingSeries = [
  { kind: "welcome", afterDays: 0 },
  { kind: "first-assistant", afterDays: 1 },
  { kind: "approvals", afterDays: 4 },
  { kind: "credits", afterDays: 8 },
  { kind: "next-steps", afterDays: 13 },
] as const;

export type OnboardingKind = (typeof onboardingSeries)[number]["kind"];

/** The length of the series in days. */
export const onboardingDays = Math.max(...onboardingSeries.map(({ afterDays }) => afterDays));

/** What an unsubscribe does not stop. */
export const whatGoesOn = (whose: "your" | "the" = "your") =>
  `Emails about sign-in, security and the state of ${whose} account go on`;

export const onboardingKinds = onboardingSeries.map(({ kind }) => kind);
