import { type Expression, sql } from "kysely";
import { toCredits } from "@/lib/accounts/credits/ledger";
import { asIso } from "@/lib/config/instants";
import type { Tables } from "@/lib/db/tables";

type Row = Tables["accounts"];

type Column<Value> = {
  /** What the privacy document calls it; null for what only our work needs, or goes by the words of another column. */
  told: string | null;
  /** Its name in the export of the person's data, and how it is written there. Without it, it is shown elsewhere. */
  exported?: readonly [name: string, write?: (value: Value) => unknown];
  /** Whether the anonymous account that an erasure leaves keeps it. What a person wrote must not stay. */
  kept: boolean;
  /** Whether the audit records it, which outlives the account. What a person wrote must not be there. */
  audited: boolean;
};

const fromJson = (text: string | null) => (text === null ? null : (JSON.parse(text) as unknown));

/** What becomes of each column of an account: the type and a test insist on an entry for a new one. */
export const accountColumns: { readonly [Name in keyof Row]: Column<Row[Name]> } = {
  id: { told: null, exported: ["id"], kept: false, audited: true },
  email: { told: "email", kept: false, audited: true },
  subject: { told: null, exported: ["subject"], kept: false, audited: true },
  plan: { told: "plan and what it has beyond it", exported: ["plan"], kept: false, audited: true },
  trial_ends_at_ms: {
    told: "end of the trial and the mails about it",
    exported: ["trialEndsAt", asIso],
    kept: false,
    audited: true,
  },
  assistant_limit: { told: "assistant limit", exported: ["assistantLimit"], kept: true, audited: true },
  given_plan: { told: null, exported: ["givenPlan"], kept: false, audited: true },
  paid_plan: { told: null, exported: ["paidPlan"], kept: false, audited: true },
  own_features: { told: null, exported: ["ownFeatures", fromJson], kept: false, audited: true },
  own_limits: { told: null, exported: ["ownLimits", fromJson], kept: false, audited: true },
  given_ends_at_ms: {
    told: "when what we give ends and what follows",
    exported: ["givenEndsAt", asIso],
    kept: false,
    audited: true,
  },
  given_after: { told: null, exported: ["givenAfter", fromJson], kept: false, audited: true },
  credit_thousandths: { told: "credits", exported: ["credits", toCredits], kept: true, audited: true },
  held_thousandths: {
    told: "what is held of them",
    exported: ["heldCredits", toCredits],
    kept: false,
    audited: true,
  },
  reference: { told: "our reference for it", exported: ["reference"], kept: false, audited: false },
  created_at_ms: { told: "when it was opened", exported: ["createdAt", asIso], kept: true, audited: true },
  app_end_mails_stopped_at_ms: {
    told: "whether you want mails about the end of apps",
    kept: true,
    audited: true,
  },
  time_zone: { told: "your time zone", exported: ["timeZone"], kept: false, audited: false },
  trial_mail_done_ms: { told: null, exported: ["lastTrialMailDueAt", asIso], kept: true, audited: true },
  deletes_at_ms: {
    told: "when it is deleted if you asked for that",
    exported: ["deletesAt", asIso],
    kept: false,
    audited: true,
  },
  credits_due_ms: {
    told: "when its plan next gives credits",
    exported: ["creditsDueAt", asIso],
    kept: false,
    audited: false,
  },
  trial_end_told_ms: { told: null, exported: ["trialEndToldAs", asIso], kept: false, audited: false },
};

const accountColumnNames = Object.keys(accountColumns) as (keyof Row)[];

/**
 * The columns of a whole account for a query at `nowMs`. What is held is what the holds hold that have not expired by then.
 */
export const accountAt = (nowMs: number | Expression<number>) =>
  accountColumnNames.map((name) =>
    name === "held_thousandths" ? heldAt(nowMs).as(name) : (`accounts.${name}` as const),
  );

/** What is held of an account's credits at `nowMs`, in thousandths. Most accounts have no holds, and read none. */
const heldAt = (
  nowMs: number | Expression<number>,
) => sql<number>`case when accounts.held_thousandths = 0 then 0 else
  (select cast(coalesce(sum(thousandths), 0) as bigint) from holds where holds.account_id = accounts.id
    and closed_as is null and holds.expires_at_ms > ${nowMs}) end`;

/** What the privacy document says of an account. */
export const toldColumns = accountColumnNames.flatMap((name) => accountColumns[name].told ?? []);

/** The columns that the audit records. */
export const auditedColumns = accountColumnNames.filter((name) => accountColumns[name].audited);

/** A row without what an erasure does not keep. */
export function keptColumns(row: Row): Row {
  const kept = accountColumnNames.map((name) => [name, accountColumns[name].kept ? row[name] : null]);
  return Object.fromEntries(kept) as Row;
}

/** A row as the export shows it. */
export function exportAccount(row: Row): Record<string, unknown> {
  const shown = Object.entries<Column<never>>(accountColumns).flatMap(([name, { exported }]) => {
    if (!exported) return [];
    const [as, write = (value: unknown) => value] = exported;
    return [[as, write(row[name as keyof Row] as never)]];
  });
  return Object.fromEntries(shown);
}
