import type { Generated } from "kysely";

/**
 * The tables, as the queries see them. Times are Unix milliseconds, credits are thousandths of one:
 * whole numbers that SQLite and PostgreSQL keep exactly alike. SQLite checks no types, so whoever reads
 * a row parses it.
 */
export type Tables = {
  accounts: {
    id: string;
    /** In lower case. */
    email: string;
    /** The `sub` of the account's session tokens; none until Clerk tells. */
    subject: string | null;
    plan: string;
    trial_ends_at_ms: number | null;
    assistant_limit: number | null;
    credit_thousandths: number;
    created_at_ms: number;
  };
  /** The ledger: entries are added and never changed, each together with its account's balance. */
  credit_entries: {
    id: string;
    account_id: string;
    thousandths: number;
    reason: string;
    created_at_ms: number;
  };
  /** At most one row, whose id is 1. */
  site_banner: {
    id: number;
    kind: string;
    message: string;
    starts_at_ms: number | null;
    ends_at_ms: number | null;
  };
  /** The outbox. It outlives the account, without its address: links in mails already sent go on working. */
  onboarding_emails: {
    id: string;
    account_id: string;
    recipient_hash: string;
    kind: string;
    due_at_ms: number;
    state: string;
    /** When a runner may next take it; while it is being sent, the end of the lease. */
    next_attempt_at_ms: number;
    /** Until when it may still be delivered by whoever took it last; none when that is settled. */
    lease_until_ms: number | null;
    attempts: Generated<number>;
    first_attempt_at_ms: number | null;
    /** What went wrong last, in a few words without an address. */
    failure: string | null;
  };
  /** Outlives the account: whoever stopped our mail stays unmailed. */
  email_suppressions: {
    email_hash: string;
    created_at_ms: number;
  };
  /** Emails that ask to be invited. */
  waitlist: {
    /** In lower case. */
    email: string;
    joined_at_ms: number;
    invited_at_ms: number | null;
  };
  /** One row for every account there ever was, and for every invitation not accepted yet. */
  invitations: {
    id: string;
    /** In lower case. */
    email: string;
    /** Of its link's token; none where Clerk's own link is the credential, or the operator accepted it. */
    token_hash: string | null;
    plan: string;
    trial_ends_at_ms: number | null;
    trial_days: number | null;
    assistant_limit: number | null;
    credit_thousandths: number | null;
    created_at_ms: number;
    expires_at_ms: number;
    accepted_at_ms: number | null;
  };
  /** Codes of local sign-in that were asked for, also by emails without an account. */
  sign_in_codes: {
    /** The hash of the secret that the asking browser holds. */
    browser_hash: string;
    /** In lower case. */
    email: string;
    code_hash: string;
    tries: number;
    created_at_ms: number;
    expires_at_ms: number;
    /** `known`, `stranger`, or `long` where the code that counts is its email's. */
    share: Generated<string>;
    /** The asking address, hashed; none where it is not known. */
    asker_hash: string | null;
  };
  /** Emails that codes are asked for: who asks for the same one waits for its row, and its long code lies here. */
  sign_in_emails: {
    /** In lower case. */
    email: string;
    long_code_hash: string;
    /** 0 without a long code. */
    long_code_until_ms: number;
  };
  /**
   * Codes and invitations on their way to a mailbox: a row lasts until its mail is accepted, or its code or link is
   * over. Codes for emails without an account lie here as well, and go nowhere.
   */
  sign_in_mails: {
    id: string;
    kind: string;
    /** The address and the secret that the mail brings, sealed. */
    sealed: string;
    attempts: Generated<number>;
    /** When a runner may take it; while it is being sent, the end of the lease. */
    next_attempt_at_ms: number;
    /** From then on nobody needs it. */
    expires_at_ms: number;
  };
  /** Sessions that we keep: all of local sign-in, and programs' under Clerk. One that was ended has no row. */
  local_sessions: {
    id: string;
    account_id: string;
    /** From then on it is over, whether or not the row is still there. */
    expires_at_ms: number;
    /** Of the secret that renews a browser's session; a program's has none. */
    client_hash: string | null;
    /** This and what follows is unknown of a session that a build before it began. */
    kind: string | null;
    /** By which its owner knows it, for example "Chromium on Linux". */
    name: string | null;
    begun_at_ms: number | null;
    /** To an hour. */
    last_seen_at_ms: number | null;
    /** The browser's session that a program's was made in, and ends with. */
    made_in: string | null;
    /** The same where it is Clerk's; or that in which an app was let in. */
    clerk_session: string | null;
  };
  /** The keys that sign session tokens, and those that did: a key once known is never taken in again. */
  signing_keys: {
    /** The hash of the public half. */
    kid: string;
    /** Their order, from 1: what makes two instances at once agree on the next. */
    place: number;
    /** The `iss` of its tokens. */
    issuer: string;
    /** The private half, under a key derived from `APP_SECRET`; none once it is revoked or long over. */
    sealed_key: string | null;
    made_at_ms: number;
    /** None for a key that only verifies. */
    signs_from_ms: number | null;
    /** None for the newest. */
    verifies_until_ms: number | null;
    revoked_at_ms: number | null;
  };
  /** What Clerk's webhooks said of its users, so that late and repeated deliveries change nothing. */
  clerk_users: {
    id: string;
    /** In lower case. */
    email: string;
    /** When Clerk last changed the user, of all that was delivered. */
    updated_at_ms: number;
    /** 1 for good once it is deleted, else 0. */
    is_deleted: number;
    /** Until when Clerk lets the user in nowhere: banned, or locked; none while it does. */
    barred_until_ms: number | null;
    /** When Clerk last changed the user, of all deliveries that said whether it is barred. */
    barred_told_at_ms: number | null;
  };
  /** Sessions that Clerk has ended: the tokens that it has minted for them live on for a minute. */
  clerk_sessions_ended: {
    id: string;
    ended_at_ms: number;
  };
  /** Who changed what: entries are added, each in the transaction of its change, and go when they are old. */
  audit_entries: {
    id: string;
    at_ms: number;
    who: string;
    what: string;
    /** An email in lower case, its hash once the person is erased, or what else names whose it is. */
    whom: string | null;
    /** What differs, as JSON; none where there was nothing. */
    before: string | null;
    after: string | null;
  };
  /** The apps that the operator has made known to the authorization server. */
  connect_clients: {
    id: string;
    /** As its owner is told who asks. */
    name: string;
    /** A JSON array. */
    redirect_uris: string;
    added_at_ms: number;
  };
  /** What the authorization server keeps: codes, refresh tokens, grants, requests that wait for their owner. */
  connect_state: {
    /** The authorization server's name of what it is. */
    kind: string;
    id_hash: string;
    payload: string;
    grant_id: string | null;
    /** Of a device's user code, or of a session's second name. */
    look_up_hash: string | null;
    consumed_at_ms: number | null;
    expires_at_ms: number;
  };
};
