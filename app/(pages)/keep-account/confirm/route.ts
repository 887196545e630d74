import { readKeepLink, stay } from "@/lib/accounts/leaving";
import { store } from "@/lib/db/store";
import { type FormSubmission, form } from "@/lib/http/form";
import { actions, pages } from "@/lib/http/pages";

const page = (field: FormSubmission["field"]) =>
  `${pages.keepAccount.path}?token=${encodeURIComponent(field("token"))}`;

/** Keeps the account of a mail's link. The page then says whether it stays. */
export const POST = form(
  actions.keepAccount,
  async ({ field, nowMs }) => {
    const db = await store();
    const link = await readKeepLink(db, field("token"), nowMs);
    if (link.state === "leaving") await stay(db, link.account, "mail link", nowMs);
    return { to: page(field) };
  },
  { page },
);
