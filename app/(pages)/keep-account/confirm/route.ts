import { readKeepLink, stay } from "@/lib/accounts/leaving/leaving";
import { store } from "@/lib/db/store";
import type { Call } from "@/lib/http/call";
import { fieldForPage, handleForm } from "@/lib/http/form";
import { forms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";

const { path } = pages.keepAccount;

const page = (call: Call) => `${path}?token=${encodeURIComponent(fieldForPage(call, path, "token"))}`;

/** Keeps the account of a mail's link. The page then says whether it stays. */
export const { POST } = handleForm(forms.keepAccount, { page }, async (call) => {
  const db = await store();
  const link = await readKeepLink(db, call.field("token"), call.nowMs);
  if (link.state === "leaving") await stay(db, link.account, "mail link", call.nowMs);
  return { to: page(call) };
});
