import { parseLimit, setCreditLimits } from "@/lib/accounts/credits/credit-limits";
import { askForEmail, stopEmailChange } from "@/lib/accounts/email-change";
import { leave, stay } from "@/lib/accounts/leaving/leaving";
import { exportPerson } from "@/lib/accounts/leaving/person";
import { finishPasskey, startPasskey } from "@/lib/accounts/own-passkeys";
import { setTimeZone, switchAppEndMails } from "@/lib/accounts/own-settings";
import { byOwner } from "@/lib/accounts/require-owner";
import {
  declinePasskeys,
  maxNameCharacters,
  removePasskeys,
  renamePasskey,
} from "@/lib/auth/passkeys/passkeys";
import { readableName } from "@/lib/auth/readable-name";
import { endSessionsOf } from "@/lib/auth/sessions/session-end";
import { describeStart } from "@/lib/auth/sessions/session-name";
import { startProgramSession } from "@/lib/auth/sessions/session-start";
import { beginCheckout, endCheckoutsOfLeavers } from "@/lib/billing/checkout";
import { openPortal } from "@/lib/billing/customer/customer";
import { openLicenceChange } from "@/lib/billing/licence/price-change";
import { openUnfinished } from "@/lib/billing/licence/subscription";
import { endAutomaticPurchase } from "@/lib/billing/top-ups/automatic-purchase";
import { startAutomaticPurchase } from "@/lib/billing/top-ups/start";
import { parseTypedEmail, whyNotAnEmail } from "@/lib/config/email-address";
import { rateLimits } from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import { parseTimeZone } from "@/lib/config/time-zone";
import { store } from "@/lib/db/store";
import { appearances, chooseAppearance } from "@/lib/http/appearance";
import { handleForm, withProblem } from "@/lib/http/form";
import { handleOperation, type RouteHandler } from "@/lib/http/handler";
import { ownerForms } from "@/lib/http/register/forms";
import { ownerPages, pages } from "@/lib/http/register/pages";
import { unsubscribe } from "@/lib/mail/unsubscribe";
import { keepApps } from "@/lib/oauth/app-session";
import { consumeLimit } from "@/lib/rate-limit/rate-limit";
import { objectInParts } from "@/lib/runtime/json-text";
import { log } from "@/lib/runtime/log";
import { findSessionGroup } from "./access/session-groups";

const [access, account, billing] = [ownerPages.access.path, ownerPages.account.path, ownerPages.billing.path];
const developers = pages.developers.path;

/** The refusals that the page of billing explains. */
export const explainedOnBilling = [
  "billing_not_configured",
  "credits_not_configured",
  "checkout_failed",
  "limit_failed",
  "limit_required",
  "paid_only",
  "portal_failed",
] as const;

const ofBilling = { ...byOwner, explained: explainedOnBilling };

const failedToEnd = "the checkouts of an account that will be deleted could not be ended yet";

/** What the owner's pages send. The register says what each address checks first. */
export const ownerHandlers: Record<keyof typeof ownerForms, RouteHandler> = {
  /** Ends one of the owner's sessions by its id, or a list of them, except the browser's own. */
  endSession: handleForm(ownerForms.endSession, byOwner, async ({ field, nowMs }, owner) => {
    const named = field("session");
    const group = findSessionGroup(named);
    const which = group?.which ?? { id: named };
    const about = { by: owner.by, what: "session end", accountId: owner.account.id } as const;
    await endSessionsOf(await store(), { ...about, which, allBut: group && owner.session?.sessionId }, nowMs);
    const isToken = group ? group.which.kind === "program" : field("of") === "tokens";
    return { to: `${isToken ? developers : access}?ended${group ? `=${named}` : ""}#ended` };
  }),

  /** Gives all apps another 180 days. Only their owner in the browser can: a token never extends itself. */
  keepApps: handleForm(ownerForms.keepApps, byOwner, async ({ nowMs }, { account }) => {
    const hasKept = await keepApps(await store(), account.id, nowMs);
    return { to: hasKept ? `${access}?kept#sessions` : withProblem(access, "no-apps") };
  }),

  switchAppMails: handleForm(ownerForms.switchAppMails, byOwner, async ({ field, nowMs }, owner) => {
    await switchAppEndMails(await store(), owner, field("mails") === "on", nowMs);
    return { to: `${account}#emails` };
  }),

  /** For good: what an owner switches off here, the link in each of these mails does too. */
  stopIntroduction: handleForm(
    ownerForms.stopIntroduction,
    byOwner,
    async (call, { account: { id }, by }) => {
      await unsubscribe(id, by, call);
      return { to: `${account}#emails` };
    },
  ),

  /** In this browser, on every page; what is not known is the system's. */
  chooseAppearance: handleForm(ownerForms.chooseAppearance, byOwner, async ({ field }) => {
    const look = appearances.find((appearance) => appearance === field("look")) ?? "system";
    return { to: `${account}#appearance`, cookies: [chooseAppearance(look)] };
  }),

  /** For mails and pages. The script of the pages sends its browser's while none is known; what is none changes nothing. */
  chooseTimeZone: handleForm(
    ownerForms.chooseTimeZone,
    byOwner,
    async ({ field, nowMs }, { account: owner }) => {
      const zone = parseTimeZone(field("zone"));
      if (zone) await setTimeZone(await store(), owner, zone, nowMs);
      return { to: zone ? `${account}#time-zone` : `${withProblem(account, "zone")}#time-zone` };
    },
  ),

  /** The first step of adding a passkey: the options for `navigator.credentials.create`, with a challenge. */
  startPasskey: handleOperation(ownerForms.startPasskey, byOwner, startPasskey),

  /** The second step of adding a passkey: verifies and stores the credential that the browser has created. */
  addPasskey: handleOperation(ownerForms.addPasskey, byOwner, finishPasskey),

  renamePasskey: handleForm(ownerForms.renamePasskey, byOwner, async ({ field, nowMs }, { account }) => {
    const [id, name] = [field("passkey"), readableName(field("name"))];
    if (!name || name.length > maxNameCharacters) return { to: `${withProblem(access, "name")}#ways` };
    await renamePasskey(await store(), account, { id, name }, nowMs);
    return { to: `${access}?renamed#ways` };
  }),

  removePasskey: handleForm(ownerForms.removePasskey, byOwner, async ({ field, nowMs }, { account }) => {
    await removePasskeys(await store(), { by: "owner", account, which: { id: field("passkey") } }, nowMs);
    return { to: `${access}?removed#ways` };
  }),

  declinePasskeys: handleForm(ownerForms.declinePasskeys, byOwner, async ({ nowMs }, { account }) => {
    await declinePasskeys(await store(), account, nowMs);
    return { to: ownerPages.home.path };
  }),

  /** Sends the owner all data stored about the account, as indented JSON in a file named after the day. */
  exportPerson: handleForm(ownerForms.exportPerson, byOwner, async ({ nowMs }, { account }) => {
    const kept = await exportPerson(await store(), account.email, nowMs);
    const day = new Date(nowMs).toISOString().slice(0, 10);
    return {
      status: 200,
      body: objectInParts(kept),
      mediaType: "application/json",
      headers: ["content-disposition", `attachment; filename="corner-office-${day}.json"`],
    };
  }),

  /** Asks both mailboxes. The answer is the same whether the new email has an account. */
  askForEmail: handleForm(ownerForms.askForEmail, byOwner, async (call, { account: owner, isMailProved }) => {
    const { field, circles, nowMs } = call;
    const to = parseTypedEmail(field("email"));
    if (!to) return { to: `${withProblem(account, whyNotAnEmail(field("email")))}#address` };
    const refused = await consumeLimit("emailChanges", rateLimits.emailChanges, circles);
    const problem = refused ? "often" : await askForEmail(await store(), owner, { to, isMailProved }, nowMs);
    return { to: problem ? `${withProblem(account, problem)}#address` : `${account}?asked#address` };
  }),

  stopEmailChange: handleForm(ownerForms.stopEmailChange, byOwner, async ({ nowMs }, { account: owner }) => {
    await stopEmailChange(await store(), owner, "owner", nowMs);
    return { to: `${account}?stopped#address` };
  }),

  leave: handleForm(ownerForms.leave, byOwner, async ({ nowMs }, owner) => {
    const db = await store();
    await leave(db, owner.account, nowMs);
    // The reconciler tries again what does not work now.
    if (settings().billing)
      await endCheckoutsOfLeavers(db, nowMs).catch((err) => log().warn({ err }, failedToEnd));
    return { to: `${account}#leave` };
  }),

  stay: handleForm(ownerForms.stay, byOwner, async ({ nowMs }, owner) => {
    await stay(await store(), owner.account, "owner", nowMs);
    return { to: `${account}?kept#leave` };
  }),

  /** Begins to buy a licence or credits, and leads the owner to Stripe Checkout. */
  beginCheckout: handleForm(ownerForms.beginCheckout, ofBilling, async ({ field, nowMs }, owner) => {
    const kind = field("credits") ? "credits" : "licence";
    const url = await beginCheckout(await store(), owner.account, { kind, priceId: field(kind) }, nowMs);
    return url ? { away: url } : { to: `${billing}?checkout=licensed` };
  }),

  setCreditLimits: handleForm(ownerForms.setCreditLimits, ofBilling, async ({ field, nowMs }, owner) => {
    const [monthly_thousandths, mail_below_thousandths] = [
      parseLimit(field("limit")),
      parseLimit(field("below")),
    ];
    await setCreditLimits(await store(), owner, { monthly_thousandths, mail_below_thousandths }, nowMs);
    return { to: field("from") === "account" ? `${account}#emails` : `${billing}?limits#limits` };
  }),

  /** Lets a pack be bought with the saved card whenever few credits are left. */
  startAutomaticPurchase: handleForm(
    ownerForms.startAutomaticPurchase,
    ofBilling,
    async ({ field, nowMs }, owner) => {
      const wanted = { price: field("credits"), below: parseLimit(field("below")), most: field("most") };
      const hasCard = await startAutomaticPurchase(await store(), owner, wanted, nowMs);
      return { to: hasCard ? `${billing}?automatic#automatic` : withProblem(billing, "no-card") };
    },
  ),

  endAutomaticPurchase: handleForm(ownerForms.endAutomaticPurchase, byOwner, async ({ nowMs }, owner) => {
    await endAutomaticPurchase(await store(), owner, nowMs);
    return { to: `${billing}?automatic#automatic` };
  }),

  /**
   * Leads the owner to Stripe's portal, to confirm there the change to a `licence` if one is named, or to the page on which a
   * first payment is finished.
   */
  openPortal: handleForm(ownerForms.openPortal, ofBilling, async ({ field, nowMs }, { account: owner }) => {
    const [db, priceId] = [await store(), field("licence")];
    if (field("for") === "unfinished") {
      const url = await openUnfinished(db, owner.id, nowMs);
      return url ? { away: url } : { to: billing };
    }
    return {
      away: priceId ? await openLicenceChange(db, owner, priceId, nowMs) : await openPortal(db, owner, nowMs),
    };
  }),

  /** Starts a session for a program and returns its token to the owner: `{token, expiresAt}`. */
  mintToken: handleOperation(ownerForms.mintToken, byOwner, async (call, owner) => {
    const { account, session, clerkSession } = owner;
    const program = {
      by: "owner",
      madeIn: session,
      ...describeStart(call),
      clerk_session: clerkSession ?? null,
    } as const;
    return { status: 200, body: await startProgramSession(await store(), account, program, call.nowMs) };
  }),
};
