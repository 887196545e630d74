import { account } from "@/lib/office/account";
import { accounts } from "@/lib/office/accounts";
import { announcement } from "@/lib/office/announcement";
import { audit } from "@/lib/office/audit";
import { backends } from "@/lib/office/backends";
import { commands } from "@/lib/office/commands";
import { customers } from "@/lib/office/customers";
import { mails } from "@/lib/office/mails";
import type { OfficePage } from "@/lib/office/page";
import { plans } from "@/lib/office/plans";
import { today } from "@/lib/office/today";
import { waiting } from "@/lib/office/waitlist";
import { webhooks } from "@/lib/office/webhooks";

/** The pages of the office, in the order of its navigation. */
export const officePages: readonly OfficePage[] = [
  today,
  accounts,
  account,
  customers,
  waiting,
  mails,
  plans,
  announcement,
  backends,
  webhooks,
  audit,
  commands,
];
