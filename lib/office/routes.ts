import { account, endSessions, giveCredits, removeAccount, setTerms } from "@/lib/office/account";
import { accounts } from "@/lib/office/accounts";
import { announcement, clear, publish } from "@/lib/office/announcement";
import { audit } from "@/lib/office/audit";
import { commands } from "@/lib/office/commands";
import { mails, retry } from "@/lib/office/mails";
import type { OfficeAct, OfficePage } from "@/lib/office/page";
import { today } from "@/lib/office/today";
import { inviteMany, waiting } from "@/lib/office/waiting";

/** The pages of the office, in the order of its navigation. */
export const officePages = {
  today,
  accounts,
  account,
  waiting,
  mails,
  announcement,
  audit,
  commands,
} satisfies Record<string, OfficePage>;

/** What its forms do. */
export const officeActs = {
  setTerms,
  giveCredits,
  endSessions,
  removeAccount,
  inviteMany,
  retry,
  publish,
  clear,
} satisfies Record<string, OfficeAct>;
