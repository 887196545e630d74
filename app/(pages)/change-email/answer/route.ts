import { confirmEmailChange, stopEmailChange } from "@/lib/accounts/email-change";
import { tellChangedEmails } from "@/lib/billing/customer/customer";
import { settings } from "@/lib/config/settings";
import { store } from "@/lib/db/store";
import type { Call } from "@/lib/http/call";
import { fieldForPage, handleForm } from "@/lib/http/form";
import { isKnownTo, rememberBrowser } from "@/lib/http/known-browser";
import { forms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";
import { findEmailChange, isWaiting, readChangeToken } from "@/lib/mail/links/email-change-token";
import { log } from "@/lib/runtime/log";

const { path } = pages.emailChange;

const page = (call: Call) => `${path}?token=${encodeURIComponent(fieldForPage(call, path, "token"))}`;

/** Confirms a change of email for the mailbox of the link, or stops it from the old one. The page then says how it stands. */
export const { POST } = handleForm(forms.answerEmailChange, { page }, async (call) => {
  const { field, headers, nowMs } = call;
  const link = readChangeToken(field("token"));
  if (!link) return { to: page(call) };
  const db = await store();
  const change = await findEmailChange(db, link.id);
  if (!change || !isWaiting(change, nowMs)) return { to: page(call) };
  if (field("answer") === "stop") {
    const mover = { id: change.account_id, email: change.from_email };
    if (link.side === "from") await stopEmailChange(db, mover, "mail link", nowMs);
    return { to: page(call) };
  }
  const moved = await confirmEmailChange(db, link, nowMs);
  if (!moved) return { to: page(call) };
  // The reconciler tries again what does not work now.
  if (settings().billing)
    await tellChangedEmails(db, nowMs).catch((err) => log().warn({ err }, "Stripe has an old email yet"));
  const isKnown = isKnownTo(headers, change.from_email);
  return { to: page(call), ...(isKnown && { cookies: [rememberBrowser(headers, moved, nowMs)] }) };
});
