import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseSettings } from "@/lib/config/settings";
import { recipients } from "@/lib/docs/documents/privacy";
import { borrowService, startService } from "@/tests/support/block";
import { ClerkInstance } from "@/tests/support/clerk-instance";
import { engines } from "@/tests/support/engines";
import { supportEmail } from "@/tests/support/lent-service";
import type { Service } from "@/tests/support/service";

const read = async (service: Service, path: string) => (await service.ask(`${path}.md`)).text;

/** The words for each kind of data, and the columns that they are about. Times end in `_ms`, which is left out here. */
const told = `
For which month your plan gave you credits last: the plan, its day | credit_months: starts plan anchor
how many, and whether that was paid for | credit_months: thousandths is_paid is_unpaid
That you asked for another email: the old and the new one | email_changes: from_email to_email
with a hash of its mailbox, when you asked | email_changes: mailbox_hash asked_at until
or one of us for you | email_changes: asked_by
each confirmed it and it was changed, and whether Stripe knows | email_changes: from_confirmed_at to_confirmed_at changed_at told_at
your credits: amount, reason and time | credit_entries: thousandths reason created_at place number
for bought ones what was paid, the price and Stripe's id | credit_entries: amount currency price_id checkout
which of our systems spent them for what | credit_entries: backend_id reference hold_id reverses reversed_thousandths
holds for work that goes on: amount, reason | holds: backend_id thousandths reason reference
times and what came of it | holds: created_at closed_as closed_at entry_id
What you set for your credits: how much may be spent in a month and was | credit_limits: monthly_thousandths month spent_thousandths
below how many you want a mail, with when they last were | credit_limits: mail_below_thousandths low_since
which pack is bought automatically, when, how often a month, and why not | credit_limits: top_up_price top_up_below_thousandths top_up_due top_up_most top_up_stopped
What our systems asked about your credits | backend_writes: backend_id key_hash body_digest
and were answered | backend_writes: answer written_at
told to our own systems by its id | events: type data at number account_number
How many of these there were | event_counters: last
Which of these were sent to which of our systems | webhook_deliveries: webhook_id number event_id type state at
and what that answered | webhook_deliveries: status answer
The waitlist: your email, when you joined | waitlist: email joined_at
confirmed it and were invited | waitlist: confirmed_at invited_at
hashes of the mailbox and of the mailed link | waitlist: mailbox_hash confirmation_hash
Your invitation: email, plan, trial | invitations: email plan given_plan trial_ends_at trial_days
trial, assistant limit, credits, when | invitations: assistant_limit credit_thousandths
made and accepted, and a hash of the link | invitations: created_at accepted_at token_hash
the email typed, and hashes of the code | sign_in_codes: email code_hash
of the browser's secret and of the network address | sign_in_codes: browser_hash asker_hash
requested for an email, and a hash of its long code | sign_in_emails: email long_code_hash
A mail with a code or an invitation | sign_in_mails: kind sealed
When such a mail was sent to your email, and why not | sign_in_mail_attempts: email kind at state failure
the kind of browser and system, or the app's name | local_sessions: kind name begun_in
where its answers go, the beginning with its coarse network | local_sessions: app_origin begun_at network
the hour of the last use | local_sessions: last_seen_at
the minute and the answer of an app's last check | local_sessions: checked_at told
What each of your apps was told about your account when that changed | app_answers: session_id told at
the last coarse networks that it got tokens from or was used from and when they were in turn | local_sessions: renewed_from in_turn_since
since when its tokens are bound to its key | local_sessions: bound_at
when and how you last confirmed that it is you | local_sessions: confirmed_at confirmed_by
with hashes of its secrets | local_sessions: client_hash former_hash
That an app ended and why | local_sessions: ended_as
a public key, its name, when it was added and last used | passkeys: public_key name added_at last_used_at
That you put the offer of a passkey away | passkey_offers: declined_at
What your connected apps may do, and their unanswered requests | connect_state: payload
Which onboarding emails were due and sent, and why not | onboarding_emails: kind due_at state failure
with a hash of your email | onboarding_emails: recipient_hash
no onboarding emails, as a hash of your email | email_suppressions: email_hash created_at
who changed what of your account, and when | audit_entries: who what whom before after at
Your id at Stripe | billing_customers: customer_id created_at licence
besides the plan you bought | billing_customers: plan_before trial_ends_before limit_before limit_given
Your plans at Stripe: state, periods | billing_subscriptions: status status_reason assistant_limit price_id created_at
periods with the day on which they begin, and | billing_subscriptions: period_starts cycle_anchor period_ends unpaid_since ends_at licence_until
what is due of open invoices | billing_subscriptions: invoice_id invoice_status amount_due open_invoices next_attempt currency
what was bought, when | billing_checkouts: kind price_id thousandths created_at
amount and currency, when, for which purchase | billing_payments: amount currency paid_at bought
what was refunded or disputed | billing_payments: returned dispute
bought at Stripe with your email before | billing_unclaimed: email created_at
how it ended | billing_checkouts: state session_id refunded_thousandths taken_thousandths
Your id and email at Clerk | clerk_users: email
whether you are banned there | clerk_users: barred_until
The ids of your sessions that ended at Clerk | clerk_sessions_ended: ended_at`
  .trim()
  .split("\n")
  .map((line) => line.split(" | "));
/** Columns that only our own work needs: ids, leases, and when what is not kept for long expires. */
const ours =
  /\.(?:id|account_id|subject|credential_id|rp_id|counter|made_in|clerk_session|begun_by|share|tries|attempts|version|last_event(?:_at)?|ending_mail|end_mail_at|confirmation_mailed_at|unconfirmed_until|expires_at|last_date|former_until|long_code_until|first_at|next_at|trial_end_told|end_told|seq|next_attempt_at|lease_until|first_attempt_at|updated_at|is_deleted|barred_told_at)$|^sign_in_codes\.(?:created_at|characters|tried_at)$|^connect_state\.(?!payload)/;
/**
 * Tables of which the document says nothing, because they are about no one who uses the service; and the accounts, whose
 * columns have their words in `accountColumns`.
 */
const noOnes =
  /^(?:accounts\.|sqlite_|kysely_|operator|plan|changed_plans|hook_deliveries|passkey_challenges|status_outages|billing_licence_prices|billing_progress|connect_clients|signing_keys|link_keys|event_numbers|webhooks|ledger_numbers|backends|backend_keys|site_banner)/;

describe("/privacy and /terms", async () => {
  const { service, stage } = await borrowService(engines[0]);

  it("names every column with data of a person", async () => {
    const clerk = await ClerkInstance.start();
    const atClerk = await startService(clerk.environment);
    const [local, byClerk] = [await read(service, "/privacy"), await read(atClerk, "/privacy")];
    await clerk.stop();
    for (const [words = ""] of told) expect(local + byClerk).toContain(words);
    expect(byClerk, "what only our own sign-in keeps").not.toMatch(/`office-(?:client|code|passkey|known)`/);
    const rows = await stage.query(
      "SELECT m.name || '.' || c.name AS name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'",
    );
    const kept = rows
      .map(({ name }) => String(name).replace(/_ms$/, ""))
      .filter((name) => !noOnes.test(name) && !ours.test(name));
    const known = told.flatMap(([, columns = ""]) => {
      const [table, ...names] = columns.split(/:? /);
      return names.map((name) => `${table}.${name}`);
    });
    expect(kept.sort()).toEqual(known.sort());
  });

  it("states what is kept and for how long, by the service's own limits", async () => {
    const text = await read(service, "/privacy");
    for (const line of [
      "| The waitlist: your email, when you joined, confirmed it and were invited, and hashes of the mailbox and of the mailed link | 730 days after you joined; 30 days if you neither confirm nor are invited |",
      "| A requested sign-in code: the email typed, and hashes of the code, of the browser's secret and of the network address | 1 day |",
      "| The mails to you, in files | 730 days after they were written |",
      "| `office-client` | Keeps you signed in | 90 days |",
      "| `__session` | Shows that you are signed in | 1 minute |",
      "| `office-known` | Shows that you have signed in with this browser before, when, and to which account, so that strangers cannot use up your sign-in codes or your share of our limits | 180 days |",
    ]) {
      expect(text).toContain(line);
    }
    expect(text).not.toContain("Clerk");
  });

  it("are not in the menu of the documents, and do not claim a source that no one can read", async () => {
    const menu = /<nav aria-label="Documents">.*?<\/nav>/s.exec((await service.ask("/docs")).text)?.[0];
    expect(menu).toContain('href="/docs/api"');
    for (const path of ["/privacy", "/terms"]) expect(menu).not.toContain(`href="${path}"`);
    expect(await read(service, "/terms")).not.toContain("open source");
  });

  it("says that the operator is not named, and where questions go", async () => {
    for (const path of ["/privacy", "/terms"]) {
      const text = await read(service, path);
      expect(text).toContain(
        `Corner Office at localhost:${service.port} is run by the people who send its invitations.`,
      );
      expect(text).toContain(`Questions go to [${supportEmail}](mailto:${supportEmail}).`);
    }
  });

  it.each(["/", "/docs", "/no/such/page"])("are linked at the foot of %s", async (path) => {
    const foot = /<footer.*<\/footer>/s.exec((await service.ask(path)).text)?.[0];
    expect(foot).toContain('<a href="/privacy">Privacy</a><a href="/terms">Terms</a>');
  });

  it("are linked next to every field for an email", async () => {
    const { url } = await service.adminJson<{ url: string }>("invite", "invited@example.com");
    for (const path of ["/", "/waitlist", "/sign-in", url.replace(service.url, "")]) {
      const main = /<main.*<\/main>/s.exec((await service.ask(path)).text)?.[0];
      expect(main, path).toContain('type="email"');
      expect(main, path).toContain('<a href="/privacy">Privacy</a> · <a href="/terms">Terms</a>');
    }
  });
});

describe("the recipients of personal data", () => {
  const clerk = {
    CLERK_PUBLISHABLE_KEY: `pk_live_${Buffer.from("clerk.example.com$").toString("base64")}`,
    CLERK_SECRET_KEY: "sk_live_x",
    CLERK_WEBHOOK_SIGNING_SECRET: `whsec_${Buffer.from("w".repeat(24)).toString("base64")}`,
    CLERK_JWT_KEY: generateKeyPairSync("rsa", { modulusLength: 2048 })
      .publicKey.export({ type: "spki", format: "pem" })
      .toString(),
  };
  /** Each setting with which data leaves, with those that it needs, and whom it names. */
  const named: Record<string, [settings: Record<string, string>, recipient: string]> = {
    CLERK_SECRET_KEY: [clerk, "Clerk"],
    RESEND_API_KEY: [{ RESEND_API_KEY: "re_x", EMAIL_FROM: "a@example.com" }, "Resend"],
    SMTP_URL: [{ SMTP_URL: "smtps://mail.example.com", EMAIL_FROM: "a@example.com" }, "The mail server"],
    STRIPE_SECRET_KEY: [
      {
        STRIPE_SECRET_KEY: "sk_live_x",
        STRIPE_WEBHOOK_SECRET: "whsec_0123456789abcdef",
        STRIPE_LICENCE_PRICES: "price_1",
      },
      "Stripe",
    ],
    DATABASE_URL: [{ DATABASE_URL: "postgres://db.example.com/office" }, "The PostgreSQL server"],
    REDIS_URL: [{ REDIS_URL: "rediss://redis.example.com" }, "The Redis server"],
    UPSTASH_REDIS_REST_URL: [
      { UPSTASH_REDIS_REST_URL: "https://x.upstash.io", UPSTASH_REDIS_REST_TOKEN: "x" },
      "Upstash",
    ],
  };
  /** Settings that are addresses or keys, and send no one's data anywhere, or only where one above does. */
  const others = [
    ...[
      "APP_URL",
      "OFFICE_URL",
      "BACKEND_URL",
      "PRIVACY_URL",
      "TERMS_URL",
      "SOURCE_URL",
      "DATABASE_DIRECT_URL",
    ],
    ...["CLERK_API_URL", "CLERK_PUBLISHABLE_KEY", "CLERK_JWT_KEY", "RESEND_BASE_URL", "STRIPE_API_URL"],
    ...["UPSTASH_REDIS_REST_TOKEN", "DKIM_PRIVATE_KEY"],
  ];
  const read = (more: Record<string, string>) =>
    recipients(parseSettings({ APP_URL: "https://office.example.com", APP_SECRET: "s".repeat(32), ...more }));

  it("are the operator and the approved apps where nothing else is configured", () => {
    expect(read({}).map((line) => line.split(/[,:]/)[0])).toEqual([
      "The operator",
      "The apps that you approve",
    ]);
  });

  it.each(Object.entries(named))("include the one that %s names", (_, [more, recipient]) => {
    const [added, ...rest] = read(more).filter((line) => !read({}).includes(line));
    expect(added).toMatch(new RegExp(`^${recipient}\\b`));
    expect(rest).toEqual([]);
  });

  it("are known for every setting that names another service", () => {
    const names = readFileSync(".env.example", "utf8").matchAll(/^([A-Z_]+_(?:URL|KEY|TOKEN))=/gm);
    expect([...names].map(([, name]) => name).sort()).toEqual([...Object.keys(named), ...others].sort());
  });
});

describe("with the operator's settings", async () => {
  const service = await startService({
    SIGN_IN: "local",
    RETENTION_DAYS: "90",
    OPERATOR_NAME: "Example [Office] GmbH",
    OPERATOR_ADDRESS: "1 Example Street, 10115 Berlin, Germany",
    SOURCE_URL: "https://example.com/source",
    TERMS_URL: "https://example.com/terms?v=1",
  });

  it("names the operator and the address, on both pages and in the footer", async () => {
    const words = `Corner Office at localhost:${service.port} is run by Example \\[Office\\] GmbH, 1 Example Street, 10115 Berlin, Germany.`;
    expect(await read(service, "/privacy")).toContain(words);
    const page = (await service.ask("/privacy")).text;
    expect(page).toContain(words.replaceAll("\\", ""));
    expect(page).toMatch(/<footer.*, run by Example \[Office\] GmbH/s);
  });

  it("calls the software open source where its source can be read", async () => {
    const page = (await service.ask("/docs")).text;
    expect(page).toMatch(/<footer.*<a href="https:\/\/example\.com\/source">Source<\/a>/s);
  });

  it("uses the configured retention period", async () => {
    expect(await read(service, "/privacy")).toContain("| 90 days after you joined; ");
  });

  it("says whom to ask, because there is no address for questions", async () => {
    const paths = [...(await service.ask("/sitemap.xml")).text.matchAll(/<loc>http:\/\/[^/]*([^<]*)/g)];
    expect(paths.length).toBeGreaterThan(15);
    for (const path of paths.map(([, path = ""]) => path)) {
      const { text } = await service.ask(path);
      expect(text, path).not.toMatch(/(contact|write to|email) us\b/i);
    }
    await service.adminJson("account", "add", "ended@example.com", "--trial-ends", "2026-01-01");
    const { token } = await service.adminJson<{ token: string }>("token", "ended@example.com");
    const headers = { authorization: `Bearer ${token}` };
    expect(JSON.parse((await service.ask("/api/entitlement", { headers })).text).error.hint).toContain(
      "For a plan, ask the person who invited you;",
    );
  });

  it("leads to the operator's own terms instead of ours", async () => {
    const text = await read(service, "/terms");
    expect(text).toContain("The terms are at <https://example.com/terms?v=1>.");
    expect(text).not.toContain("Your account");
    const page = (await service.ask("/sign-in")).text;
    expect(page).toContain('<a href="https://example.com/terms?v=1">Terms</a>');
    expect(page).not.toContain('href="/terms"');
  });
});
