import { readKeepLink, stay } from "@/lib/accounts/leaving";
import { store } from "@/lib/db/store";
import { form } from "@/lib/http/form";
import { actions, pages } from "@/lib/http/pages";

/** Keeps the account of a mail's link. The page then says whether it stays. */
export const POST = form(
  actions.keepAccount,
  (field) => `${pages.keepAccount.path}?token=${encodeURIComponent(field("token"))}`,
  async ({ field, nowMs }) => {
    const db = await store();
    const link = await readKeepLink(db, field("token"), nowMs);
    if (link.state === "leaving") await stay(db, link.account, "mail link", nowMs);
    return { to: `${pages.keepAccount.path}?token=${encodeURIComponent(field("token"))}` };
  },
);
