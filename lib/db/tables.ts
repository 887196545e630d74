import type { Generated } from "kysely";

/**
 * The tables as the queries see them. Times are Unix milliseconds and credits are thousandths: integers that SQLite and
 * PostgreSQL store exactly. Emails are in lower case. SQLite does not check types, so callers parse the rows that they
 * read.
 */
export type Tables = {
  accounts: {
    id: string;
    email: string;
    /** The `sub` of the account's session tokens; null until Clerk reports it. */
    subject: string | null;
    /** What its entitlement reports as the status; which licence it is, the next two say. */
    plan: string;
    /** The plan of the licence that an operator gives; null if they give none, or give the licence of which no more is known. */
    given_plan: string | null;
    /** The plan of the licence that Stripe gives; null while it gives none. */
    paid_plan: string | null;
    trial_ends_at_ms: number | null;
    /** Its own limit of assistants; null if its plan says it. */
    assistant_limit: number | null;
    /** What an operator gives it beyond its plan: names of features and limits, as JSON. */
    own_features: string | null;
    own_limits: string | null;
    /** When what an operator gives ends, and what they give and it has then, as JSON; null without an end. */
    given_ends_at_ms: number | null;
    given_after: string | null;
    credit_thousandths: number;
    created_at_ms: number;
    /** When it is erased, because its owner asked for that a day before; null if it stays. */
    deletes_at_ms: number | null;
    /** The owner's time zone by its name, for mails and pages; null until it is known. */
    time_zone: string | null;
    /** When its owner switched off the mails about the end of apps; null if they are wanted. */
    app_end_mails_stopped_at_ms: number | null;
    /** When the last mail about the trial's end was due that was queued: at the end, or three days before. */
    trial_mail_done_ms: number | null;
    /**
     * What the rows of `holds` hold that are not closed, those that have expired included: never more than the credits. What
     * is held now is the sum of those that have not expired.
     */
    held_thousandths: number;
    /** The operator's own name for it, for its backends: unique. */
    reference: string | null;
    /** The end of its trial that came and was told as an event; null if none was. */
    trial_end_told_ms: number | null;
    /** When its plan gives credits next; 0 in a new row, and null while something else has to change before. */
    credits_due_ms: number | null;
  };
  /** Requests to change an account's email: of a day, and those that were carried out. */
  email_changes: {
    id: string;
    account_id: string;
    from_email: string;
    to_email: string;
    /** Of the new email's mailbox, however it is spelled. */
    mailbox_hash: string;
    asked_at_ms: number;
    /** Until when its links work; the past once it was stopped or replaced. */
    until_ms: number;
    /** When each mailbox confirmed it; null until then. */
    from_confirmed_at_ms: number | null;
    to_confirmed_at_ms: number | null;
    /** When the account got the new email. */
    changed_at_ms: number | null;
    /** When Stripe was told. */
    told_at_ms: number | null;
  };
  /** The month for which an account's plan gave credits last. */
  credit_months: {
    account_id: string;
    /** The instant whose day and time its months begin on. */
    anchor_ms: number;
    starts_ms: number;
    /** The plan, and how much it gave or would have, with what was given for the part of a month before. */
    plan: string;
    thousandths: number;
    /** 1 if it was paid for. */
    is_paid: number;
    /** 1 while the next month waits for a payment. */
    is_unpaid: number;
  };
  /** The ledger. Entries are only added, together with the change of the account's balance. */
  credit_entries: {
    id: string;
    account_id: string;
    thousandths: number;
    reason: string;
    created_at_ms: number;
    /** Its place among the account's entries of one instant; 0 for the first. */
    place: Generated<number>;
    /** Of credits that were bought: Stripe's id of the checkout (null after an erasure) and of the price. */
    checkout: Generated<string | null>;
    price_id: Generated<string | null>;
    /** What was paid for them in the currency's smallest unit at Stripe; below 0 if that was returned. */
    amount: Generated<number | null>;
    currency: Generated<string | null>;
    /** The backend that wrote it, and the operator's own words for what it belongs to; null if no backend did. */
    backend_id: Generated<string | null>;
    reference: Generated<string | null>;
    /** The hold that it settled. */
    hold_id: Generated<string | null>;
    /** The entry that it reverses, or a part of it. */
    reverses: Generated<string | null>;
    /** How much of it was reversed. */
    reversed_thousandths: Generated<number>;
    /** Its place among all entries; null until they are listed. */
    number: Generated<number | null>;
  };
  /** The operator's own systems, which call the backend API. */
  backends: {
    /** The `iss` of its assertions. */
    id: string;
    /** What it may do: `read`, or `read,spend`. */
    may: string;
    added_at_ms: number;
  };
  /** The public keys of backends: at most two each. */
  backend_keys: {
    /** The thumbprint of the key (RFC 7638). */
    kid: string;
    backend_id: string;
    /** A JWK. */
    public_key: string;
    added_at_ms: number;
  };
  /** Credits that a backend holds until it settles or releases them, or until they expire. */
  holds: {
    id: string;
    account_id: string;
    backend_id: string;
    thousandths: number;
    reason: string;
    reference: string | null;
    created_at_ms: number;
    /** From then on it holds nothing, also while it is not closed. */
    expires_at_ms: number;
    /** `settled`, `released`, or `expired` once a later write has seen that; null if it is not closed. */
    closed_as: string | null;
    closed_at_ms: number | null;
    /** The entry with which it was settled; null if that took nothing. */
    entry_id: string | null;
  };
  /** What owners set for their credits. */
  credit_limits: {
    account_id: string;
    /** What backends may spend and hold in a month (UTC); null if the owner sets no limit. */
    monthly_thousandths: number | null;
    /** The first instant of the month that was counted last, and what backends spent in it and did not give back. */
    month_ms: number;
    spent_thousandths: number;
    /** Fewer credits than this are told by mail; null if none is wanted. */
    mail_below_thousandths: number | null;
    /** When there were fewer; null if there were not, since the last that were given or for an hour. */
    low_since_ms: number | null;
    /** The price of the pack that is bought automatically, below which balance, and how often a month (UTC); null if none is. */
    top_up_price: string | null;
    top_up_below_thousandths: number | null;
    top_up_most: number | null;
    /** From when on it is due, because a backend left fewer; null if it is not. */
    top_up_due_ms: number | null;
    /** Why it was turned off, unless its owner did. */
    top_up_stopped: string | null;
  };
  /** What backends wrote, by the key of their request, with its first answer. Rows last as long as the account. */
  backend_writes: {
    backend_id: string;
    key_hash: string;
    /** Null if it wrote to several accounts. */
    account_id: string | null;
    /** Of the request: another one with its key is refused. */
    body_digest: string;
    answer: string;
    written_at_ms: number;
  };
  /**
   * What happened, for the operator's systems. Triggers of the store write the rows (`event-triggers.ts`), in the
   * transaction of what they tell and in any build.
   */
  events: {
    /** The order in which the rows were written. */
    seq: Generated<number>;
    id: string;
    account_id: string;
    type: string;
    /** What the event is about, as JSON: ids, slugs and figures that we chose, no words of a person. */
    data: string;
    /** By the store's clock. */
    at_ms: number;
    /** Its place among all events, and among those of its account; null until they are listed. */
    number: Generated<number | null>;
    account_number: Generated<number | null>;
  };
  /** One row, whose id is 1. */
  event_numbers: {
    id: number;
    /** The last number. */
    last: number;
    /** The highest number that was deleted. */
    swept: number;
    /** What time alone ended before was never told. */
    since_ms: number;
  };
  /** The last number of each account's events. */
  event_counters: { account_id: string; last: number };
  /** Where events are sent. */
  webhooks: {
    id: string;
    url: string;
    /** The types of events that it gets, with commas between them; null for all. */
    types: string | null;
    /** Sealed: a secret of Standard Webhooks, `whsec_…` or `whsk_…`. The former one signs too, until its time. */
    sealed_secret: string;
    sealed_former: string | null;
    former_until_ms: number | null;
    added_at_ms: number;
    /** The number through which each event is delivered, given up, or in `webhook_deliveries`. */
    position: number;
    /** Grows with each change from outside, so that the instance that delivers begins anew. */
    version: number;
    /** Since when nothing was accepted; null if the last attempt was. */
    failing_since_ms: number | null;
    /** When it was given up: nothing is sent until an operator tests it. */
    stopped_at_ms: number | null;
    /** The instance that delivers, and until when no other one may. */
    lease_by: string | null;
    lease_until_ms: number;
  };
  /** The deliveries of a webhook: those that wait, and for some days the others. */
  webhook_deliveries: {
    webhook_id: string;
    /** The event's. */
    number: number;
    event_id: string;
    account_id: string;
    type: string;
    /** `waiting`, `delivered` or `failed`. */
    state: string;
    attempts: number;
    first_at_ms: number | null;
    /** When it is tried next, if it is the first that waits of its account. */
    next_at_ms: number;
    /** The last attempt, and what the receiver said: its status and the beginning of its words. */
    at_ms: number | null;
    status: number | null;
    answer: string | null;
  };
  /** One row, whose id is 1: the last number of the ledger's entries. */
  ledger_numbers: { id: number; last: number };
  /** At most one row, whose id is 1. */
  site_banner: {
    id: number;
    kind: string;
    message: string;
    starts_at_ms: number | null;
    ends_at_ms: number | null;
    /** When an operator set it, even if to the same words. Null if that is not known. */
    announced_at_ms: number | null;
  };
  /** The outbox of onboarding mails. Rows outlive the account, without its address: links in mails keep working. */
  onboarding_emails: {
    id: string;
    account_id: string;
    recipient_hash: string;
    kind: string;
    due_at_ms: number;
    state: string;
    /** When a runner may next take it; while it is being sent, the end of the lease. */
    next_attempt_at_ms: number;
    /** Until when the runner that last took it may still deliver it; null when that is settled. */
    lease_until_ms: number | null;
    attempts: Generated<number>;
    first_attempt_at_ms: number | null;
    /** The last error, in a few words without an address. */
    failure: string | null;
  };
  /** Outlives the account, so that people who unsubscribed get no more mail. */
  email_suppressions: {
    email_hash: string;
    created_at_ms: number;
  };
  /** Emails that requested an invitation. */
  waitlist: {
    email: string;
    joined_at_ms: number;
    invited_at_ms: number | null;
    /** Of the token in the last mail that asked to confirm the email. */
    confirmation_hash: string | null;
    confirmation_mailed_at_ms: number | null;
    confirmed_at_ms: number | null;
    /** When the row is deleted; `null` once it is confirmed or invited. */
    unconfirmed_until_ms: number | null;
    mailbox_hash: string | null;
  };
  /** One row per account ever opened, and per invitation that is not yet accepted. */
  invitations: {
    id: string;
    email: string;
    /** The hash of the token in its link; null where Clerk's own link is the credential, or the operator accepted it. */
    token_hash: string | null;
    plan: string;
    /** The plan of the licence, if it is one. */
    given_plan: string | null;
    trial_ends_at_ms: number | null;
    trial_days: number | null;
    assistant_limit: number | null;
    credit_thousandths: number | null;
    created_at_ms: number;
    expires_at_ms: number;
    accepted_at_ms: number | null;
  };
  /** Requested codes of local sign-in, also for emails without an account. */
  sign_in_codes: {
    /** The hash of a secret in the browser that requested the code. */
    browser_hash: string;
    email: string;
    code_hash: string;
    tries: number;
    created_at_ms: number;
    expires_at_ms: number;
    /** `known`, `stranger`, or `long` when the email's long code applies instead. */
    share: Generated<string>;
    /** The hash of the client address that requested the code; null if unknown. */
    asker_hash: string | null;
    /** The length of the code. */
    characters: number | null;
    /** When the last wrong code was typed. */
    tried_at_ms: number | null;
  };
  /** Emails for which codes were requested. The row serializes requests for its email, and holds its long code. */
  sign_in_emails: {
    email: string;
    long_code_hash: string;
    /** 0 if there is no long code. */
    long_code_until_ms: number;
  };
  /**
   * The outbox of all mails but the onboarding series. A row lasts until its mail is accepted or expires. Codes for emails
   * without an account are stored as well, but not sent.
   */
  sign_in_mails: {
    id: string;
    kind: string;
    /** The recipient and the secret in the mail, sealed. */
    sealed: string;
    attempts: Generated<number>;
    /** When a runner may take it; while it is being sent, the end of the lease. */
    next_attempt_at_ms: number;
    /** When the code or link expires. */
    expires_at_ms: number;
  };
  /** Outages of a part of this service, for `/status`: at most one of a part in ten minutes, for 90 days. */
  status_outages: {
    part: string;
    started_at_ms: number;
    /** When an instance last saw it. */
    seen_at_ms: number;
    /** Null while it goes on. */
    ended_at_ms: number | null;
  };
  /** The last attempt to deliver a mail of the outbox, for the operator. */
  sign_in_mail_attempts: {
    /** The id of the mail, which may have left the outbox. */
    id: string;
    email: string;
    kind: string;
    at_ms: number;
    /** `sent`, `retrying` or `failed`. */
    state: string;
    /** The provider's words, without an address. */
    failure: string | null;
  };
  /** What apps were told, a row each time that it was something else than before. */
  app_answers: {
    account_id: string;
    session_id: string;
    /** The status that the app was told from then on. */
    told: string;
    at_ms: number;
  };
  /** Our own sessions: all of local sign-in, and those of programs under Clerk. Ending a session deletes its row. */
  local_sessions: {
    id: string;
    account_id: string;
    /** When it ends, or has ended. Use moves it, at most to its last date. The row of an app stays for 30 days more. */
    expires_at_ms: number;
    /** The latest end. Null: no use moves the end, because it is a program's session. */
    last_date_ms: number | null;
    /** Why an app's session ended before its time; see `Ending`. */
    ended_as: string | null;
    /** When `GET /api/entitlement` last answered an app, accurate to a minute, and the status that it told. */
    checked_at_ms: number | null;
    told: string | null;
    /** The hash of the secret that renews a browser's session; null for a program's. */
    client_hash: string | null;
    /** The hash of the secret before, which the last confirmation replaced, and until when it can still be read with. */
    former_hash: string | null;
    former_until_ms: number | null;
    /** A `SessionKind`, or `approvedKind`. */
    kind: string | null;
    /** The name shown to its owner, for example "Chromium on Linux". */
    name: string | null;
    begun_at_ms: number | null;
    /** Accurate to an hour. */
    last_seen_at_ms: number | null;
    /** The browser session in which a program's session was created, and with which it ends. */
    made_in: string | null;
    /** The same for a Clerk session, or the Clerk session in which an app was approved. */
    clerk_session: string | null;
    /** When the mail about an app's end is due; null once it is queued. */
    end_mail_at_ms: number | null;
    /** When the owner last proved in this browser who they are, and by which way: `code` or `passkey`. */
    confirmed_at_ms: number | null;
    confirmed_by: string | null;
    /** `owner` or `operator`. */
    begun_by: string | null;
    /** The browser in which its owner started it, for example "Chromium on Linux". */
    begun_in: string | null;
    /** The network that it was started from, as `clientNetwork` writes it. Null if it was not known. */
    network: string | null;
    /** Of an app: what was verified of it, for example the host that its answers go to. Null before it was stored. */
    app_origin: string | null;
    /** The networks that an app got its last tokens from, or a browser was used from since it changed; see `networksOf`. */
    renewed_from: string | null;
    /** Of an app: when its tokens were first bound to its key. Null if they are not. */
    bound_at_ms: number | null;
    /** When these first were networks in turn, and its owner got a mail about it. */
    in_turn_since_ms: number | null;
    /** Of an app that ended by time alone: when that was told as an event. */
    end_told_ms: number | null;
  };
  /** The passkeys of local sign-in. */
  passkeys: {
    id: string;
    account_id: string;
    /** The credential's id, in base64url. */
    credential_id: string;
    /** The host that it was made for. */
    rp_id: string;
    /** The COSE public key, in base64url. */
    public_key: string;
    /** The signature counter; 0 if the authenticator has none. */
    counter: number;
    /** The name that the owner chose; at first the browser's. */
    name: string;
    added_at_ms: number;
    last_used_at_ms: number | null;
  };
  /** The challenges that were signed, until they expire, so that each works once. */
  passkey_challenges: {
    challenge: string;
    expires_at_ms: number;
  };
  /** The owners who put the offer of a passkey away. */
  passkey_offers: {
    account_id: string;
    declined_at_ms: number;
  };
  /** The keys that sign session tokens, and former ones, so that a known key is never added again. */
  signing_keys: {
    /** The hash of the public key. */
    kid: string;
    /** Their order, from 1. It is unique, so concurrent instances agree on the next key. */
    place: number;
    /** The `iss` of its tokens. */
    issuer: string;
    /** The private key, sealed with a key derived from `APP_SECRET`; null once it is revoked or long expired. */
    sealed_key: string | null;
    made_at_ms: number;
    /** Null for a key that only verifies. */
    signs_from_ms: number | null;
    /** Null for the newest key. */
    verifies_until_ms: number | null;
    revoked_at_ms: number | null;
  };
  /** The keys of unsubscribe links. */
  link_keys: {
    id: string;
    /** The key, sealed with a key derived from `APP_SECRET`. */
    sealed_key: string;
    /** From when it makes links, until a later one does. Each verifies for ever. */
    makes_from_ms: number;
  };
  /** The users that Clerk's webhooks reported, so that late and repeated deliveries change nothing. */
  clerk_users: {
    id: string;
    email: string;
    /** When Clerk last changed the user, by the newest delivery. */
    updated_at_ms: number;
    /** 1 after it was deleted (permanent), else 0. */
    is_deleted: number;
    /** Until when the user is banned or locked at Clerk; null or past if it is not. */
    barred_until_ms: number | null;
    /** When Clerk last changed the user, by the newest delivery that reports bans and locks. */
    barred_told_at_ms: number | null;
  };
  /** Sessions that Clerk has ended, because their tokens stay valid for up to a minute. */
  clerk_sessions_ended: {
    id: string;
    ended_at_ms: number;
  };
  /** The audit. Entries are written in the transaction of their change, and deleted after the retention period. */
  audit_entries: {
    id: string;
    at_ms: number;
    who: string;
    what: string;
    /** An email in lower case, its hash after the person was erased, or another identifier of the affected record. */
    whom: string | null;
    /** The fields that differ, as JSON; null if there was no record. */
    before: string | null;
    after: string | null;
  };
  /** The customer at Stripe of each account that has ever begun a checkout, and the licence that Stripe gives it. */
  billing_customers: {
    account_id: string;
    customer_id: string;
    created_at_ms: number;
    /** `given` while Stripe gives a licence, else null. */
    licence: string | null;
    /** What an operator gives the account meanwhile: the account itself has the better of the two. */
    plan_before: string | null;
    trial_ends_before_ms: number | null;
    limit_before: number | null;
    /** The limit of assistants that comes with the licence; null if its price has none. */
    limit_given: number | null;
  };
  /** The subscriptions at Stripe as they were last read there. */
  billing_subscriptions: {
    id: string;
    account_id: string;
    /** As Stripe reports it; `refunded` if its current period was, and `gone` if Stripe no longer knows it. */
    status: string;
    /** Why it has that status, in the words of `billing/licence/licence-end.ts`; null if there is nothing to add. */
    status_reason: string | null;
    /** The limit of assistants where it is not its plan's, and its price: while a change is not paid, those of before. */
    assistant_limit: number | null;
    price_id: string | null;
    period_ends_ms: number;
    /** When its current period began, and the instant whose day its months begin on; null until it is read at Stripe. */
    period_starts_ms: number | null;
    cycle_anchor_ms: number | null;
    /** Since when it is not paid, or when an invoice by mail is due; null while it is paid. */
    unpaid_since_ms: number | null;
    /** When its licence ends or ended, if that is known: it was cancelled or is not paid. */
    ends_at_ms: number | null;
    /** Until when it is a licence, unless Stripe reports something new; 0 once it is none. */
    licence_until_ms: number;
    /** The end about which its owner was told before; null if there was none. */
    ending_mail_ms: number | null;
    created_at_ms: number;
    /** Grows with each change, so that an older reading never replaces a newer one. */
    version: number;
    /** The event that last made us read it at Stripe. */
    last_event: string | null;
    last_event_at_ms: number | null;
    /** Its latest invoice, and what is due of all that are open in the currency's smallest unit. */
    invoice_id: string | null;
    invoice_status: string | null;
    amount_due: number | null;
    open_invoices: number | null;
    /** When Stripe next charges one of them; null if it does not, or has not been asked. */
    next_attempt_ms: number | null;
    currency: string | null;
  };
  /** When a delivery to each of our providers' webhooks was accepted and refused last, and why, to the minute. */
  hook_deliveries: {
    hook: string;
    accepted_at_ms: number | null;
    refused_at_ms: number | null;
    reason: string | null;
  };
  /** What an account may do. `features` and `limits` are JSON; see `plans/plan.ts`. */
  plans: {
    name: string;
    title: string;
    description: string;
    features: string;
    limits: string;
    credit_thousandths: number;
    /** Its place in the order, which is from the least to the most. */
    position: number;
    /** Since when it is offered to no one new. */
    retired_at_ms: number | null;
  };
  /** One row, whose version is another one after each change of the plans. */
  plan_versions: { id: number; version: string };
  /** The prices at Stripe that are or were sold as licences. */
  billing_licence_prices: {
    id: string;
    /** The plan that it buys; null of a price that was sold before there were plans, which has the limit of assistants. */
    plan: string | null;
    assistant_limit: number | null;
    sold_at_ms: number;
    /** Its place among the prices of its plan. */
    place: number | null;
    /** Since when it is not sold any more, or from the start if it never was by us. */
    withdrawn_at_ms: number | null;
  };
  /** Checkouts that owners began. An account has at most one open one of each kind. */
  billing_checkouts: {
    /** The idempotency key with which it is created at Stripe. */
    id: string;
    account_id: string;
    /** `licence` or `credits`, or `top-up` for an automatic purchase, which has an invoice. */
    kind: string;
    price_id: string;
    /** The credits bought; 0 for a licence. */
    thousandths: number;
    /** `open`, `unpaid` (complete, but the bank has not paid yet), `fulfilled`, `expired` or `failed`. */
    state: string;
    created_at_ms: number;
    /** Stripe's id of the session, or of a top-up's invoice; null until Stripe has created it. */
    session_id: string | null;
    /** How many of the credits were refunded, or lost in a dispute. */
    refunded_thousandths: Generated<number>;
    /** How many of those were taken back; null if that is all of them. */
    taken_thousandths: number | null;
    /** The event that last made us read it at Stripe. */
    last_event: string | null;
    last_event_at_ms: number | null;
  };
  /** What accounts have paid at Stripe, by charge, as it was last read there. */
  billing_payments: {
    /** Stripe's id of the charge. */
    id: string;
    account_id: string;
    /** Stripe's id of the subscription or the checkout session that it paid. */
    bought: string;
    /** In the currency's smallest unit that Stripe has. */
    amount: number;
    /** How much of it was refunded, or lost in disputes. */
    returned: number;
    /** `open`, `won` or `lost`; null if it was not disputed. */
    dispute: string | null;
    currency: string;
    paid_at_ms: number;
  };
  /** Purchases at Stripe for an email that has no account. */
  billing_unclaimed: {
    /** Stripe's id of the subscription or the checkout session. */
    id: string;
    email: string;
    /** When it was bought. */
    created_at_ms: number;
  };
  /** How far the reconciler has read what is new at Stripe. A restored store has the point of its backup. */
  billing_progress: {
    /** `purchases`. */
    id: string;
    through_ms: number;
  };
  /** The operators of the office. They are not accounts. */
  operators: {
    id: string;
    name: string;
    added_at_ms: number;
    /** The hash of the token in the link that adds a passkey; null once it was used. */
    link_hash: string | null;
    link_until_ms: number | null;
  };
  operator_passkeys: Omit<Tables["passkeys"], "id" | "account_id" | "name"> & { operator_id: string };
  /** The operators' sessions in the office. */
  operator_sessions: {
    /** The hash of the cookie. */
    id_hash: string;
    operator_id: string;
    begun_at_ms: number;
    /** Accurate to a minute. */
    last_used_at_ms: number;
    expires_at_ms: number;
    /** When the operator last used a passkey in this session. */
    proved_at_ms: number;
  };
  /** The apps that the operator registered with the authorization server. */
  connect_clients: {
    id: string;
    /** The name that an owner sees when the app requests access. */
    name: string;
    /** A JSON array. */
    redirect_uris: string;
    added_at_ms: number;
  };
  /** The state of the authorization server: codes, refresh tokens, grants, unanswered requests. */
  connect_state: {
    /** The authorization server library's name for the kind of record. */
    kind: string;
    id_hash: string;
    payload: string;
    /** Of a request that is not answered yet: a hash of the account that has seen it. */
    grant_id: string | null;
    /** The hash of a device's user code, or of a session's alternative id; of a grant, its id. */
    look_up_hash: string | null;
    /** For a refresh token, its first use. */
    consumed_at_ms: number | null;
    expires_at_ms: number;
    /** The hash of the code or refresh token that a refresh token was issued for; null for the first. */
    parent_hash: Generated<string | null>;
  };
};
