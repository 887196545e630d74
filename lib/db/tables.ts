import type { Generated } from "kysely";

/*
 * The tables with their columns, in SQL, from which the types of the queries are inferred. Times are Unix milliseconds and
 * credits are thousandths: integers that SQLite and PostgreSQL store exactly. Emails are in lower case. SQLite does not
 * check types, so callers parse the rows that they read.
 */

/** Those that the first migration makes: only their comments change. `counted` numbers the rows in their order. */
export const firstTables = {
  accounts: {
    id: "text primary key",
    email: "text not null unique",
    /** The `sub` of the account's session tokens; null until Clerk reports it. */
    subject: "text unique",
    /** What its entitlement reports as the status; which licence it is, the next two say. */
    plan: "text not null",
    /** The plan of the licence that an operator gives; null if they give none, or give the licence of which no more is known. */
    given_plan: "text",
    /** The plan of the licence that Stripe gives; null while it gives none. */
    paid_plan: "text",
    trial_ends_at_ms: "bigint",
    /** Its own limit of assistants; null if its plan says it. */
    assistant_limit: "bigint",
    /** What an operator gives it beyond its plan: names of features and limits, as JSON. */
    own_features: "text",
    own_limits: "text",
    /** When what an operator gives ends, and what they give and it has then, as JSON; null without an end. */
    given_ends_at_ms: "bigint",
    given_after: "text",
    credit_thousandths: "bigint not null default 0",
    created_at_ms: "bigint not null",
    /** When it is erased, because its owner asked for that a day before; null if it stays. */
    deletes_at_ms: "bigint",
    /** When its owner switched off the mails about the end of apps; null if they are wanted. */
    app_end_mails_stopped_at_ms: "bigint",
    /** When the last mail about the trial's end was due that was queued: at the end, or three days before. */
    trial_mail_done_ms: "bigint",
    /**
     * What the rows of `holds` hold that are not closed, those that have expired included: never more than the credits. What
     * is held now is the sum of those that have not expired.
     */
    held_thousandths:
      "bigint not null default 0 constraint accounts_held check (held_thousandths >= 0 and held_thousandths <= credit_thousandths)",
    /** The operator's own name for it, for its backends: unique. */
    reference: "text",
    /** The end of its trial that came and was told as an event; null if none was. */
    trial_end_told_ms: "bigint",
    /** When its plan gives credits next; 0 in a new row, and null while something else has to change before. */
    credits_due_ms: "bigint default 0",
  },
  /** The month for which an account's plan gave credits last. */
  credit_months: {
    account_id: "text primary key references accounts (id) on delete cascade",
    /** The instant whose day and time its months begin on. */
    anchor_ms: "bigint not null",
    starts_ms: "bigint not null",
    /** The plan, and how much it gave or would have, with what was given for the part of a month before. */
    plan: "text not null",
    thousandths: "bigint not null",
    /** 1 if it was paid for. */
    is_paid: "bigint not null",
    /** 1 while the next month waits for a payment. */
    is_unpaid: "bigint not null",
  },
  /** The ledger. Entries are only added, together with the change of the account's balance. */
  credit_entries: {
    id: "text primary key",
    account_id: "text not null references accounts (id) on delete cascade",
    thousandths: "bigint not null",
    reason: "text not null",
    created_at_ms: "bigint not null",
    /** Its place among the account's entries of one instant; 0 for the first. */
    place: "bigint not null default 0",
    /** Of credits that were bought: Stripe's id of the checkout (null after an erasure) and of the price. */
    checkout: "text",
    price_id: "text",
    /** What was paid for them in the currency's smallest unit at Stripe; below 0 if that was returned. */
    amount: "bigint",
    currency: "text",
    /** The backend that wrote it, and the operator's own words for what it belongs to; null if no backend did. */
    backend_id: "text",
    reference: "text",
    /** The hold that it settled. */
    hold_id: "text",
    /** The entry that it reverses, or a part of it. */
    reverses: "text",
    /** How much of it was reversed. */
    reversed_thousandths:
      "bigint not null default 0 constraint credit_entries_reversed check (reversed_thousandths >= 0)",
    /** Its place among all entries; null until they are listed. */
    number: "bigint",
  },
  /** The operator's own systems, which call the backend API. */
  backends: {
    /** The `iss` of its assertions. */
    id: "text primary key",
    /** What it may do: `read`, or `read,spend`. */
    may: "text not null",
    added_at_ms: "bigint not null",
  },
  /** The public keys of backends: at most two each. */
  backend_keys: {
    /** The thumbprint of the key (RFC 7638). */
    kid: "text primary key",
    backend_id: "text not null references backends (id) on delete cascade",
    /** A JWK. */
    public_key: "text not null",
    added_at_ms: "bigint not null",
  },
  /** Credits that a backend holds until it settles or releases them, or until they expire. */
  holds: {
    id: "text primary key",
    account_id: "text not null references accounts (id) on delete cascade",
    backend_id: "text not null",
    thousandths: "bigint not null",
    reason: "text not null",
    reference: "text",
    created_at_ms: "bigint not null",
    /** From then on it holds nothing, also while it is not closed. */
    expires_at_ms: "bigint not null",
    /** `settled`, `released`, or `expired` once a later write has seen that; null if it is not closed. */
    closed_as: "text",
    closed_at_ms: "bigint",
    /** The entry with which it was settled; null if that took nothing. */
    entry_id: "text",
  },
  /** What owners set for their credits. */
  credit_limits: {
    account_id: "text primary key references accounts (id) on delete cascade",
    /** What backends may spend and hold in a month (UTC); null if the owner sets no limit. */
    monthly_thousandths: "bigint",
    /** The first instant of the month that was counted last, and what backends spent in it and did not give back. */
    month_ms: "bigint not null",
    spent_thousandths: "bigint not null",
    /** Fewer credits than this are told by mail; null if none is wanted. */
    mail_below_thousandths: "bigint",
    /** When there were fewer; null if there were not, since the last that were given or for an hour. */
    low_since_ms: "bigint",
    /** The price of the pack that is bought automatically, below which balance, and how often a month (UTC); null if none is. */
    top_up_price: "text",
    top_up_below_thousandths: "bigint",
    top_up_most: "bigint",
    /** From when on it is due, because a backend left fewer; null if it is not. */
    top_up_due_ms: "bigint",
    /** Why it was turned off, unless its owner did. */
    top_up_stopped: "text",
  },
  /** What backends wrote, by the key of their request, with its first answer. Rows last as long as the account. */
  backend_writes: {
    backend_id: "text not null",
    key_hash: "text not null",
    /** Null if it wrote to several accounts. */
    account_id: "text references accounts (id) on delete cascade",
    /** The digest of the request: another one with its key is refused. */
    body_digest: "text not null",
    answer: "text not null",
    written_at_ms: "bigint not null",
  },
  /**
   * What happened, for the operator's systems. Triggers of the store write the rows (`event-triggers.ts`), in the
   * transaction of what they tell and in any build.
   */
  events: {
    /** The order in which the rows were written. */
    seq: "counted",
    id: "text not null unique",
    account_id: "text not null",
    type: "text not null",
    /** What the event is about, as JSON: ids, slugs and figures that we chose, no words of a person. */
    data: "text not null",
    /** When it was, by the store's clock. */
    at_ms: "bigint not null",
    /** Its place among all events, and among those of its account; null until they are listed. */
    number: "bigint",
    account_number: "bigint",
  },
  /** One row, whose id is 1. */
  event_numbers: {
    id: "bigint primary key",
    /** The last number. */
    last: "bigint not null",
    /** The highest number that was deleted. */
    swept: "bigint not null",
    /** What time alone ended before was never told. */
    since_ms: "bigint not null",
  },
  /** The last number of each account's events. */
  event_counters: { account_id: "text primary key", last: "bigint not null" },
  /** Where events are sent. */
  webhooks: {
    id: "text primary key",
    url: "text not null",
    /** The types of events that it gets, with commas between them; null for all. */
    types: "text",
    /** Sealed: a secret of Standard Webhooks, `whsec_…` or `whsk_…`. The former one signs too, until its time. */
    sealed_secret: "text not null",
    sealed_former: "text",
    former_until_ms: "bigint",
    added_at_ms: "bigint not null",
    /** The number through which each event is delivered, given up, or in `webhook_deliveries`. */
    position: "bigint not null",
    /** Grows with each change from outside, so that the instance that delivers begins anew. */
    version: "bigint not null",
    /** Since when nothing was accepted; null if the last attempt was. */
    failing_since_ms: "bigint",
    /** When it was given up: nothing is sent until an operator tests it. */
    stopped_at_ms: "bigint",
    /** The instance that delivers, and until when no other one may. */
    lease_by: "text",
    lease_until_ms: "bigint not null",
  },
  /** The deliveries of a webhook: those that wait, and for some days the others. */
  webhook_deliveries: {
    webhook_id: "text not null references webhooks (id) on delete cascade",
    /** The event's. */
    number: "bigint not null",
    event_id: "text not null",
    account_id: "text not null",
    type: "text not null",
    /** `waiting`, `delivered` or `failed`. */
    state: "text not null",
    attempts: "bigint not null",
    first_at_ms: "bigint",
    /** When it is tried next, if it is the first that waits of its account. */
    next_at_ms: "bigint not null",
    /** The last attempt, and what the receiver said: its status and the beginning of its words. */
    at_ms: "bigint",
    status: "bigint",
    answer: "text",
  },
  /** One row, whose id is 1: the last number of the ledger's entries. */
  ledger_numbers: { id: "bigint primary key", last: "bigint not null" },
  /** At most one row, whose id is 1. */
  site_banner: {
    id: "bigint primary key",
    kind: "text not null",
    message: "text not null",
    starts_at_ms: "bigint",
    ends_at_ms: "bigint",
    /** When an operator set it, even if to the same words. Null if that is not known. */
    announced_at_ms: "bigint",
  },
  /** The outbox of onboarding mails. Rows outlive the account, without its address: links in mails keep working. */
  onboarding_emails: {
    id: "text primary key",
    account_id: "text not null",
    recipient_hash: "text not null",
    kind: "text not null",
    due_at_ms: "bigint not null",
    state: "text not null",
    /** When a runner may next take it; while it is being sent, the end of the lease. */
    next_attempt_at_ms: "bigint not null",
    /** Until when the runner that last took it may still deliver it; null when that is settled. */
    lease_until_ms: "bigint",
    attempts: "bigint not null default 0",
    first_attempt_at_ms: "bigint",
    /** The last error, in a few words without an address. */
    failure: "text",
  },
  /** Outlives the account, so that people who unsubscribed get no more mail. */
  email_suppressions: {
    email_hash: "text primary key",
    created_at_ms: "bigint not null",
  },
  /** Emails that requested an invitation. */
  waitlist: {
    email: "text primary key",
    joined_at_ms: "bigint not null",
    invited_at_ms: "bigint",
    /** The hash of the token in the last mail that asked to confirm the email. */
    confirmation_hash: "text",
    confirmation_mailed_at_ms: "bigint",
    confirmed_at_ms: "bigint",
    /** When the row is deleted; `null` once it is confirmed or invited. */
    unconfirmed_until_ms: "bigint",
    mailbox_hash: "text",
  },
  /** One row per account ever opened, and per invitation that is not yet accepted. */
  invitations: {
    id: "text primary key",
    email: "text not null",
    /** The hash of the token in its link; null where Clerk's own link is the credential, or the operator accepted it. */
    token_hash: "text unique",
    plan: "text not null",
    /** The plan of the licence, if it is one. */
    given_plan: "text",
    trial_ends_at_ms: "bigint",
    trial_days: "bigint",
    assistant_limit: "bigint",
    credit_thousandths: "bigint",
    created_at_ms: "bigint not null",
    expires_at_ms: "bigint not null",
    accepted_at_ms: "bigint",
  },
  /** Requested codes of local sign-in, also for emails without an account. */
  sign_in_codes: {
    /** The hash of a secret in the browser that requested the code. */
    browser_hash: "text primary key",
    email: "text not null",
    code_hash: "text not null",
    tries: "bigint not null",
    created_at_ms: "bigint not null",
    expires_at_ms: "bigint not null",
    /** `known`, `stranger`, or `long` when the email's long code applies instead. */
    share: "text not null default 'stranger'",
    /** The hash of the client address that requested the code; null if unknown. */
    asker_hash: "text",
    /** The length of the code. */
    characters: "bigint",
    /** When the last wrong code was typed. */
    tried_at_ms: "bigint",
  },
  /** Emails for which codes were requested. The row serializes requests for its email, and holds its long code. */
  sign_in_emails: {
    email: "text primary key",
    long_code_hash: "text not null",
    /** 0 if there is no long code. */
    long_code_until_ms: "bigint not null",
  },
  /**
   * The outbox of all mails but the onboarding series. A row lasts until its mail is accepted or expires. Codes for emails
   * without an account are stored as well, but not sent.
   */
  sign_in_mails: {
    id: "text primary key",
    kind: "text not null",
    /** The recipient and the secret in the mail, sealed. */
    sealed: "text not null",
    attempts: "bigint not null default 0",
    /** When a runner may take it; while it is being sent, the end of the lease. */
    next_attempt_at_ms: "bigint not null",
    /** When the code or link expires. */
    expires_at_ms: "bigint not null",
  },
  /** Outages of a part of this service, for `/status`: at most one of a part in ten minutes, for 90 days. */
  status_outages: {
    part: "text not null",
    started_at_ms: "bigint not null",
    /** When an instance last saw it. */
    seen_at_ms: "bigint not null",
    /** Null while it goes on. */
    ended_at_ms: "bigint",
  },
  /** The last attempt to deliver a mail of the outbox, for the operator. */
  sign_in_mail_attempts: {
    /** The id of the mail, which may have left the outbox. */
    id: "text primary key",
    email: "text not null",
    kind: "text not null",
    at_ms: "bigint not null",
    /** `sent`, `retrying` or `failed`. */
    state: "text not null",
    /** The provider's words, without an address. */
    failure: "text",
  },
  /** What apps were told, a row each time that it was something else than before. */
  app_answers: {
    account_id: "text not null references accounts (id) on delete cascade",
    session_id: "text not null",
    /** The status that the app was told from then on. */
    told: "text not null",
    at_ms: "bigint not null",
  },
  /** Our own sessions: all of local sign-in, and those of programs under Clerk. Ending a session deletes its row. */
  local_sessions: {
    id: "text primary key",
    account_id: "text not null references accounts (id) on delete cascade",
    /** When it ends, or has ended. Use moves it, at most to its last date. The row of an app stays for 30 days more. */
    expires_at_ms: "bigint not null",
    /** The latest end. Null: no use moves the end, because it is a program's session. */
    last_date_ms: "bigint",
    /** Why an app's session ended before its time; see `Ending`. */
    ended_as: "text",
    /** When `GET /api/entitlement` last answered an app, accurate to a minute, and the status that it told. */
    checked_at_ms: "bigint",
    told: "text",
    /** The hash of the secret that renews a browser's session; null for a program's. */
    client_hash: "text",
    /** The hash of the secret before, which the last confirmation replaced, and until when it can still be read with. */
    former_hash: "text",
    former_until_ms: "bigint",
    /** A `SessionKind`, or `approvedKind`. */
    kind: "text",
    /** The name shown to its owner, for example "Chromium on Linux". */
    name: "text",
    begun_at_ms: "bigint",
    /** Accurate to an hour. */
    last_seen_at_ms: "bigint",
    /** The browser session in which a program's session was created, and with which it ends. */
    made_in: "text references local_sessions (id) on delete cascade",
    /** The same for a Clerk session, or the Clerk session in which an app was approved. */
    clerk_session: "text",
    /** When the mail about an app's end is due; null once it is queued. */
    end_mail_at_ms: "bigint",
    /** When the owner last proved in this browser who they are, and by which way: `code` or `passkey`. */
    confirmed_at_ms: "bigint",
    confirmed_by: "text",
    /** `owner` or `operator`. */
    begun_by: "text",
    /** The browser in which its owner started it, for example "Chromium on Linux". */
    begun_in: "text",
    /** The network that it was started from, as `clientNetwork` writes it. Null if it was not known. */
    network: "text",
    /** Of an app: what was verified of it, for example the host that its answers go to. Null before it was stored. */
    app_origin: "text",
    /** The networks that an app got its last tokens from, or a browser was used from since it changed; see `networksOf`. */
    renewed_from: "text",
    /** Of an app: when its tokens were first bound to its key. Null if they are not. */
    bound_at_ms: "bigint",
    /** When these first were networks in turn, and its owner got a mail about it. */
    in_turn_since_ms: "bigint",
    /** Of an app that ended by time alone: when that was told as an event. */
    end_told_ms: "bigint",
  },
  /** The passkeys of local sign-in. */
  passkeys: {
    id: "text primary key",
    account_id: "text not null references accounts (id) on delete cascade",
    /** The credential's id, in base64url. */
    credential_id: "text not null unique",
    /** The host that it was made for. */
    rp_id: "text not null",
    /** The COSE public key, in base64url. */
    public_key: "text not null",
    /** The signature counter; 0 if the authenticator has none. */
    counter: "bigint not null",
    /** The name that the owner chose; at first the browser's. */
    name: "text not null",
    added_at_ms: "bigint not null",
    last_used_at_ms: "bigint",
  },
  /** The challenges that were signed, until they expire, so that each works once. */
  passkey_challenges: {
    challenge: "text primary key",
    expires_at_ms: "bigint not null",
  },
  /** The owners who put the offer of a passkey away. */
  passkey_offers: {
    account_id: "text primary key references accounts (id) on delete cascade",
    declined_at_ms: "bigint not null",
  },
  /** The keys that sign session tokens, and former ones, so that a known key is never added again. */
  signing_keys: {
    /** The hash of the public key. */
    kid: "text primary key",
    /** Their order, from 1. It is unique, so concurrent instances agree on the next key. */
    place: "bigint not null unique",
    /** The `iss` of its tokens. */
    issuer: "text not null",
    /** The private key, sealed with a key derived from `APP_SECRET`; null once it is revoked or long expired. */
    sealed_key: "text",
    made_at_ms: "bigint not null",
    /** Null for a key that only verifies. */
    signs_from_ms: "bigint",
    /** Null for the newest key. */
    verifies_until_ms: "bigint",
    revoked_at_ms: "bigint",
  },
  /** The keys of unsubscribe links. */
  link_keys: {
    id: "text primary key",
    /** The key, sealed with a key derived from `APP_SECRET`. */
    sealed_key: "text not null",
    /** From when it makes links, until a later one does. Each verifies for ever. */
    makes_from_ms: "bigint not null",
  },
  /** The users that Clerk's webhooks reported, so that late and repeated deliveries change nothing. */
  clerk_users: {
    id: "text primary key",
    email: "text not null",
    /** When Clerk last changed the user, by the newest delivery. */
    updated_at_ms: "bigint not null",
    /** 1 after it was deleted (permanent), else 0. */
    is_deleted: "bigint not null default 0",
    /** Until when the user is banned at Clerk; null or past if it is not. */
    barred_until_ms: "bigint",
    /** When Clerk last changed the user, by the newest delivery that reports bans. */
    barred_told_at_ms: "bigint",
  },
  /** Sessions that Clerk has ended, because their tokens stay valid for up to a minute. */
  clerk_sessions_ended: {
    id: "text primary key",
    ended_at_ms: "bigint not null",
  },
  /** The audit. Entries are written in the transaction of their change, and deleted after the retention period. */
  audit_entries: {
    id: "text primary key",
    at_ms: "bigint not null",
    who: "text not null",
    what: "text not null",
    /** An email in lower case, its hash after the person was erased, or another identifier of the affected record. */
    whom: "text",
    /** The fields that differ, as JSON; null if there was no record. */
    before: "text",
    after: "text",
  },
  /** The customer at Stripe of each account that has ever begun a checkout, and the licence that Stripe gives it. */
  billing_customers: {
    account_id: "text primary key references accounts (id) on delete cascade",
    customer_id: "text not null unique",
    created_at_ms: "bigint not null",
    /** `given` while Stripe gives a licence, else null. */
    licence: "text",
    /** What an operator gives the account meanwhile: the account itself has the better of the two. */
    plan_before: "text",
    trial_ends_before_ms: "bigint",
    limit_before: "bigint",
    /** The limit of assistants that comes with the licence; null if its price has none. */
    limit_given: "bigint",
  },
  /** The subscriptions at Stripe as they were last read there. */
  billing_subscriptions: {
    id: "text primary key",
    account_id: "text not null references accounts (id) on delete cascade",
    /** As Stripe reports it; `refunded` if its current period was, and `gone` if Stripe no longer knows it. */
    status: "text not null",
    /** Why it has that status, in the words of `billing/licence/licence-end.ts`; null if there is nothing to add. */
    status_reason: "text",
    /** The limit of assistants where it is not its plan's, and its price: while a change is not paid, those of before. */
    assistant_limit: "bigint",
    price_id: "text",
    period_ends_ms: "bigint not null",
    /** When its current period began, and the instant whose day its months begin on; null until it is read at Stripe. */
    period_starts_ms: "bigint",
    cycle_anchor_ms: "bigint",
    /** Since when it is not paid, or when an invoice by mail is due; null while it is paid. */
    unpaid_since_ms: "bigint",
    /** When its licence ends or ended, if that is known: it was cancelled or is not paid. */
    ends_at_ms: "bigint",
    /** Until when it is a licence, unless Stripe reports something new; 0 once it is none. */
    licence_until_ms: "bigint not null",
    /** The end about which its owner was told before; null if there was none. */
    ending_mail_ms: "bigint",
    created_at_ms: "bigint not null",
    /** Grows with each change, so that an older reading never replaces a newer one. */
    version: "bigint not null",
    /** The event that last made us read it at Stripe. */
    last_event: "text",
    last_event_at_ms: "bigint",
    /** Its latest invoice, and what is due of all that are open in the currency's smallest unit. */
    invoice_id: "text",
    invoice_status: "text",
    amount_due: "bigint",
    open_invoices: "bigint",
    currency: "text",
  },
  /** When a delivery to each of our providers' webhooks was accepted and refused last, and why, to the minute. */
  hook_deliveries: {
    hook: "text primary key",
    accepted_at_ms: "bigint",
    refused_at_ms: "bigint",
    reason: "text",
  },
  /** What an account may do. `features` and `limits` are JSON; see `plans/plan.ts`. */
  plans: {
    name: "text primary key",
    title: "text not null",
    description: "text not null",
    features: "text not null",
    limits: "text not null",
    credit_thousandths: "bigint not null",
    /** Its place in the order, which is from the least to the most. */
    position: "bigint not null",
    /** Since when it is offered to no one new. */
    retired_at_ms: "bigint",
  },
  /** One row, whose version is another one after each change of the plans. */
  plan_versions: { id: "bigint primary key", version: "text not null" },
  /** The prices at Stripe that are or were sold as licences. */
  billing_licence_prices: {
    id: "text primary key",
    /** The plan that it buys; null of a price that was sold before there were plans, which has the limit of assistants. */
    plan: "text references plans (name)",
    assistant_limit: "bigint",
    sold_at_ms: "bigint not null",
    /** Its place among the prices of its plan. */
    place: "bigint",
    /** Since when it is not sold any more, or from the start if it never was by us. */
    withdrawn_at_ms: "bigint",
  },
  /** Checkouts that owners began. An account has at most one open one of each kind. */
  billing_checkouts: {
    /** The idempotency key with which it is created at Stripe. */
    id: "text primary key",
    account_id: "text not null references accounts (id) on delete cascade",
    /** `licence` or `credits`, or `top-up` for an automatic purchase, which has an invoice. */
    kind: "text not null",
    price_id: "text not null",
    /** The credits bought; 0 for a licence. */
    thousandths: "bigint not null",
    /** `open`, `unpaid` (complete, but the bank has not paid yet), `fulfilled`, `expired` or `failed`. */
    state: "text not null",
    created_at_ms: "bigint not null",
    /** Stripe's id of the session, or of a top-up's invoice; null until Stripe has created it. */
    session_id: "text unique",
    /** How many of the credits were refunded, or lost in a dispute. */
    refunded_thousandths: "bigint not null default 0",
    /** How many of those were taken back; null if that is all of them. */
    taken_thousandths: "bigint",
    /** The event that last made us read it at Stripe. */
    last_event: "text",
    last_event_at_ms: "bigint",
  },
  /** What accounts have paid at Stripe, by charge, as it was last read there. */
  billing_payments: {
    /** Stripe's id of the charge. */
    id: "text primary key",
    account_id: "text not null references accounts (id) on delete cascade",
    /** Stripe's id of the subscription or the checkout session that it paid. */
    bought: "text not null",
    /** What was paid, in the currency's smallest unit at Stripe. */
    amount: "bigint not null",
    /** How much of it was refunded, or lost in disputes. */
    returned: "bigint not null",
    /** `open`, `won` or `lost`; null if it was not disputed. */
    dispute: "text",
    currency: "text not null",
    paid_at_ms: "bigint not null",
  },
  /** Purchases at Stripe for an email that has no account. */
  billing_unclaimed: {
    /** Stripe's id of the subscription or the checkout session. */
    id: "text primary key",
    email: "text not null",
    /** When it was bought. */
    created_at_ms: "bigint not null",
  },
  /** How far the reconciler has read what is new at Stripe. A restored store has the point of its backup. */
  billing_progress: {
    /** `purchases`. */
    id: "text primary key",
    through_ms: "bigint not null",
  },
  /** The operators of the office. They are not accounts. */
  operators: {
    id: "text primary key",
    name: "text not null unique",
    added_at_ms: "bigint not null",
    /** The hash of the token in the link that adds a passkey; null once it was used. */
    link_hash: "text unique",
    link_until_ms: "bigint",
  },
  operator_passkeys: {
    credential_id: "text primary key",
    operator_id: "text not null references operators (id) on delete cascade",
    rp_id: "text not null",
    public_key: "text not null",
    counter: "bigint not null",
    added_at_ms: "bigint not null",
    last_used_at_ms: "bigint",
  },
  /** The operators' sessions in the office. */
  operator_sessions: {
    /** The hash of the cookie. */
    id_hash: "text primary key",
    operator_id: "text not null references operators (id) on delete cascade",
    begun_at_ms: "bigint not null",
    /** Accurate to a minute. */
    last_used_at_ms: "bigint not null",
    expires_at_ms: "bigint not null",
    /** When the operator last used a passkey in this session. */
    proved_at_ms: "bigint not null",
  },
  /** The apps that the operator registered with the authorization server. */
  connect_clients: {
    id: "text primary key",
    /** The name that an owner sees when the app requests access. */
    name: "text not null",
    /** A JSON array. */
    redirect_uris: "text not null",
    added_at_ms: "bigint not null",
  },
  /** The state of the authorization server: codes, refresh tokens, grants, unanswered requests. */
  connect_state: {
    /** The authorization server library's name for the kind of record. */
    kind: "text not null",
    id_hash: "text not null",
    payload: "text not null",
    /** Of a request that is not answered yet: a hash of the account that has seen it. */
    grant_id: "text",
    /** The hash of a device's user code, or of a session's alternative id; of a grant, its id. */
    look_up_hash: "text",
    /** For a refresh token, its first use. */
    consumed_at_ms: "bigint",
    expires_at_ms: "bigint not null",
    /** The hash of the code or refresh token that a refresh token was issued for; null for the first. */
    parent_hash: "text",
  },
} as const satisfies TableColumns;

/** What later migrations have added. */
export const addedColumns = {
  accounts: {
    /** The owner's time zone by its name, for mails and pages; null until it is known. */
    time_zone: "text",
  },
  billing_subscriptions: {
    /** When Stripe next charges one of the open invoices; null if it does not, or has not been asked. */
    next_attempt_ms: "bigint",
  },
  event_numbers: {
    /** The event that was deleted last, as `<number>.<id>`; null until one is. */
    swept_event: "text",
  },
  /** Changes of plans, of which the accounts that have them are being told. */
  changed_plans: {
    /** The order in which they are told. */
    seq: "bigint primary key",
    plan: "text not null",
    /** What the plan contained and contains, as an event says it. */
    data: "text not null",
    /** The account that was told last, in the order of ids; null before the first. */
    last_account_id: "text",
  },
  /** Requests to change an account's email: of a day, and those that were carried out. */
  email_changes: {
    id: "text primary key",
    account_id: "text not null references accounts (id) on delete cascade",
    from_email: "text not null",
    to_email: "text not null",
    /** The hash of the new email's mailbox, however that is spelled. */
    mailbox_hash: "text not null",
    asked_at_ms: "bigint not null",
    /** Until when its links work; the past once it was stopped or replaced. */
    until_ms: "bigint not null",
    /** When each mailbox confirmed it; null until then. */
    from_confirmed_at_ms: "bigint",
    to_confirmed_at_ms: "bigint",
    /** When the account got the new email. */
    changed_at_ms: "bigint",
    /** When Stripe was told. */
    told_at_ms: "bigint",
    /** The operator who asked for it, because its owner cannot read the old mailbox; null if the owner did. */
    asked_by: "text",
  },
} as const satisfies TableColumns;

/** The names of all tables, that of the applied migrations included. */
export const tableNames = ["kysely_migration", ...Object.keys({ ...firstTables, ...addedColumns })];

export type TableColumns = Record<string, Record<string, string>>;

/** The tables as the queries see them. */
export type Tables = {
  [Table in keyof Columns]: { -readonly [Name in keyof Columns[Table]]: Value<Name, Columns[Table][Name]> };
};

type Columns = typeof firstTables & typeof addedColumns;

/** These have a default that no query relies on. */
type Given = "credit_thousandths" | "held_thousandths" | "is_deleted";

type Value<Name, Sql> = Sql extends `${string}not null default${string}` | "counted"
  ? Name extends Given
    ? Stored<Sql>
    : Generated<Stored<Sql>>
  : Sql extends `${string}${"not null" | "primary key"}${string}`
    ? Stored<Sql>
    : Stored<Sql> | null;

type Stored<Sql> = Sql extends `text${string}` ? string : number;
