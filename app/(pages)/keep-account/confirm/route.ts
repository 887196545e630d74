import { readKeepLink, stay } from "@/lib/accounts/leaving";
import { store } from "@/lib/db/store";
import { form } from "@/lib/http/form";
import type { HandlerRequest } from "@/lib/http/handler";
import { forms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";

const page = ({ fieldOfPage }: HandlerRequest) =>
  `${pages.keepAccount.path}?token=${encodeURIComponent(fieldOfPage("token"))}`;

/** Keeps the account of a mail's link. The page then says whether it stays. */
export const POST = form(
  forms.keepAccount,
  async (call) => {
    const db = await store();
    const link = await readKeepLink(db, call.field("token"), call.nowMs);
    if (link.state === "leaving") await stay(db, link.account, "mail link", call.nowMs);
    return { to: page(call) };
  },
  { page },
);
