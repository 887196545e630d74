import { ownerPages, pages } from "@/lib/http/register/pages";
import { type Route, read } from "@/lib/http/route";

const post = ["POST"] as const;

const form = { methods: post, origin: "own", takes: "form", limit: "forms" } as const;

/** Asks for a challenge, which uses no store. It has no body. */
const challenge = { methods: post, origin: "own", limit: "challenges", under: ["local"] } as const;

/** A form on one of the owner's pages. */
const owners = { ...form, under: ["local", "clerk"], credential: "owner" } as const;
const onAccess = { ...owners, page: ownerPages.access.path } as const;
const ownPasskeys = { ...onAccess, under: ["local"] } as const;
const onAccount = { ...owners, page: ownerPages.account.path } as const;
const ownAccount = { ...onAccount, under: ["local"] } as const;
const ofCredits = { ...owners, page: ownerPages.billing.path } as const;
const onBilling = { ...ofCredits, needsBilling: true } as const;

const ofWaitlist = { ...form, under: ["local", "clerk"], page: pages.waitlist.path } as const;
const onConnect = { ...form, under: ["local", "clerk"], page: pages.connect.path } as const;

/** The steps of our own sign-in. */
export const signInForms = {
  sendCode: { path: "/sign-in/send", ...form, under: ["local"], needsCookies: true, page: pages.signIn.path },
  redeemCode: { path: "/sign-in/redeem", ...form, under: ["local"], page: pages.code.path },
  askForPasskey: { path: "/sign-in/passkey/options", ...challenge },
  signInWithPasskey: { path: "/sign-in/passkey", ...form, takes: "passkey", under: ["local"] },
  signOut: { path: "/sign-in/out", ...form, limit: "signOut", under: ["local"] },
  renewSession: { path: "/sign-in/renew", ...challenge, limit: "renewals" },
} as const satisfies Record<string, Route>;

/** What the owner's pages send: their forms, and what their script fetches. */
export const ownerForms = {
  endSession: { path: "/home/sessions/end", ...onAccess },
  keepApps: { path: "/home/sessions/keep", ...onAccess, notImpersonated: "app keep refused" },
  switchAppMails: { path: "/home/app-mails", ...onAccount },
  stopIntroduction: { path: "/home/introduction/stop", ...onAccount },
  chooseAppearance: { path: "/home/appearance", ...onAccount },
  chooseTimeZone: { path: "/home/time-zone", ...onAccount, notImpersonated: "time zone refused" },
  startPasskey: { path: "/home/passkeys/options", ...ownPasskeys, limit: "challenges", needsProof: true },
  addPasskey: { path: "/home/passkeys/add", ...ownPasskeys, takes: "passkey", needsProof: true },
  renamePasskey: { path: "/home/passkeys/rename", ...ownPasskeys },
  removePasskey: { path: "/home/passkeys/remove", ...ownPasskeys, needsProof: true },
  declinePasskeys: { path: "/home/passkeys/decline", ...ownPasskeys, page: ownerPages.home.path },
  exportPerson: { path: "/home/export", ...onAccount },
  leave: { path: "/home/account/delete", ...ownAccount, needsProof: true },
  stay: { path: "/home/account/keep", ...ownAccount },
  askForEmail: { path: "/home/account/email", ...ownAccount, needsProof: true },
  stopEmailChange: { path: "/home/account/email/stop", ...ownAccount },
  beginCheckout: { path: "/home/checkout", ...onBilling, notImpersonated: "checkout refused" },
  setCreditLimits: { path: "/home/credits/limits", ...ofCredits, notImpersonated: "credit limits refused" },
  startAutomaticPurchase: {
    ...onBilling,
    path: "/home/credits/automatic",
    needsProof: true,
    notImpersonated: "automatic purchase refused",
  },
  endAutomaticPurchase: { path: "/home/credits/automatic/end", ...ofCredits },
  openPortal: { path: "/home/portal", ...onBilling, notImpersonated: "billing portal refused" },
  mintToken: { path: "/home/token", ...onAccess, notImpersonated: "token refused" },
} as const satisfies Record<string, Route>;

/** The targets of forms, and what the scripts of pages fetch. */
export const forms = {
  ...signInForms,
  ...ownerForms,
  joinWaitlist: { path: "/waitlist/join", ...ofWaitlist },
  confirmWaitlist: { path: "/waitlist/confirm", ...ofWaitlist },
  findDevice: { path: "/connect/device", ...onConnect, needsCookies: true },
  answerApp: { path: "/connect/answer", ...onConnect },
  acceptInvitation: { path: "/invitation/accept", ...form, under: ["local"], needsCookies: true },
  keepAccount: { path: "/keep-account/confirm", ...form, under: ["local"] },
  answerEmailChange: { path: "/change-email/answer", ...form, under: ["local"] },
  /** Where Stripe Checkout sends the browser back to. */
  returnFromCheckout: {
    path: "/home/checkout/return",
    methods: read,
    limit: "forms",
    under: ["local", "clerk"],
  },
  findHits: { path: "/docs/search.json", methods: read, limit: "pages" },
  dismissNotice: { path: "/notice/dismiss", ...form },
} as const satisfies Record<string, Route>;
