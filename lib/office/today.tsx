import { setTimeout as sleep } from "node:timers/promises";
import { Fragment, type ReactNode } from "react";
import { PostButton } from "@/app/(pages)/post-form";
import { Light } from "@/app/(pages)/status-light";
import { type CustomerFilter, customerFilters } from "@/lib/accounts/list/customer-list";
import { maxTrials, readOverview } from "@/lib/accounts/list/overview";
import { listUnclaimed, type UnclaimedPurchase } from "@/lib/billing/customer/unclaimed-purchases";
import { describeDistance } from "@/lib/config/instants";
import { settings } from "@/lib/config/settings";
import type { LightColour } from "@/lib/config/theme";
import type { Db } from "@/lib/db/store";
import { findRefusing } from "@/lib/http/hook-deliveries";
import { customersIn } from "@/lib/office/customers";
import type { OfficeCall, OfficePage } from "@/lib/office/page";
import { Table } from "@/lib/office/table";
import { Ago, AtStripe, Instant, Person } from "@/lib/office/values";
import { inviteMany } from "@/lib/office/waitlist";
import { showIdleWebhooks } from "@/lib/office/webhooks";
import { outageSince } from "@/lib/runtime/dependency-outages";
import { log } from "@/lib/runtime/log";
import { type Part, readStatus } from "@/lib/status/parts";

export const today: OfficePage = { path: "/today", name: "Today", show };

const freshForMs = 60_000; // 1 minute
const waitAtMostMs = 30; // the counts of a small company

type Counted = { atMs: number; overview: Awaited<ReturnType<typeof readOverview>> };

let last: Counted | undefined;
let counting: Promise<void> | undefined;

/** Counted at most once a minute. A million accounts take a while: meanwhile the page gets the last count, or none. */
async function countOverview(db: Db, nowMs: number): Promise<Counted | undefined> {
  if (last && Math.abs(nowMs - last.atMs) < freshForMs) return last;
  counting ??= readOverview(db, nowMs)
    .then((overview) => {
      last = { atMs: nowMs, overview };
    })
    .catch((failure) => log().warn({ err: failure }, "the accounts could not be counted"))
    .finally(() => {
      counting = undefined;
    });
  await Promise.race([counting, sleep(waitAtMostMs)]);
  return last;
}

async function show({ db, nowMs }: OfficeCall) {
  const { parts } = await readStatus(nowMs);
  const counted = await countOverview(db, nowMs);
  const ill = parts.filter(({ colour }) => colour !== "good");
  const cards = counted ? cardsOf(counted.overview) : [];
  const waiting = cards.reduce((sum, { count }) => sum + count, 0);
  const more = [
    <Unclaimed key="unclaimed" purchases={await listUnclaimed(db)} />,
    await showIdleWebhooks(db),
    <Refusing key="refusing" hooks={await findRefusing(db, nowMs)} />,
  ];
  return (
    <>
      {ill.length > 0 && <IllParts parts={ill} />}
      {ill.length > 0 && <h2>Waiting for you</h2>}
      {waiting > 0 && (
        <p className="lead">
          {waiting === 1 ? "One thing is" : `${waiting.toLocaleString("en")} things are`} waiting for you, the
          most urgent first.
        </p>
      )}
      <p className="quiet">
        {counted ? (
          <>
            Counted <Ago atMs={counted.atMs} />.
          </>
        ) : (
          "The accounts are being counted for the first time since the start."
        )}{" "}
        <a href={today.path}>Reload</a>
      </p>
      {cards.length > 0 && (
        <ul className="attention">
          {cards.map(({ count, what, href, colour, note, leadsTo }) => (
            <li key={what}>
              <a href={href}>
                <strong>{count.toLocaleString("en")}</strong>
                <Light colour={colour}>{what}</Light>
                {note && <small>{note}</small>}
                <span className="leads-to">{leadsTo}</span>
              </a>
            </li>
          ))}
        </ul>
      )}
      {counted && cards.length === 0 && <Light colour="good">Nothing is waiting for you.</Light>}
      {more}
      {ill.length === 0 && <Light colour="good">Every part of the service works.</Light>}
      <p className="quiet">
        <code>npm run -s admin -- check</code> tries the settings, the store, the mail and the keys.
      </p>
      {counted && <Counts {...counted.overview} />}
    </>
  );
}

/** The parts that do not work or are not set up, each with what to do. */
function IllParts({ parts }: { parts: Part[] }) {
  return (
    <>
      <h2>Not working, or not set up</h2>
      <ul className="rows">
        {parts.map(({ name, colour, says, remedy }) => (
          <li key={name}>
            <strong>{name}</strong>
            <Light colour={colour}>{says}</Light>
            <p className="quiet">{remedy ?? "Look at the log, and at what the command check says below."}</p>
          </li>
        ))}
      </ul>
    </>
  );
}

type Card = {
  count: number;
  what: string;
  href: string;
  colour: LightColour;
  note?: ReactNode;
  /** What its link opens. */
  leadsTo: string;
};

const urgency: LightColour[] = ["stopped", "soon", "unknown"];

/** What is waiting for someone, the most urgent first. */
function cardsOf({ customers, billing, ...others }: Counted["overview"]): Card[] {
  const { trialsEnding, waiting, oldestWaitingAtMs, mailsFailedIn30Days } = others;
  const [soonest] = trialsEnding;
  const at = (what: CustomerFilter, colour: LightColour, note: string): Card => ({
    count: customers[what],
    what: customerFilters[what],
    href: customersIn(what),
    colour,
    note,
    leadsTo: "See the customers",
  });
  const stripe = (count: number, what: string): Card => ({
    count,
    what,
    href: "/audit?who=stripe",
    colour: "unknown",
    note: "In what Stripe has changed",
    leadsTo: "See the audit",
  });
  const cards: Card[] = [
    at("disputed", "stopped", "Answer at Stripe before its date"),
    at("unpaid", "stopped", "The licence has ended"),
    at("unfinished", "stopped", "The first payment was not made"),
    at("past-due", "soon", "A payment has failed"),
    at("unknown", "soon", "Stripe has no such subscription"),
    {
      count: mailsFailedIn30Days,
      what: "Mails failed",
      href: "/mails",
      colour: "stopped",
      note: "In the last 30 days",
      leadsTo: "See and send again",
    },
    {
      count: trialsEnding.length,
      what: "Trials ending soon",
      href: "/accounts?trials=running",
      colour: "soon",
      note: soonest && <>First {describeDistance(Date.parse(soonest.endsAt ?? ""), Date.now())}</>,
      leadsTo: "See the trials",
    },
    {
      count: waiting,
      what: "On the waitlist",
      href: "/waiting",
      colour: "unknown",
      note: oldestWaitingAtMs && <>First joined {describeDistance(oldestWaitingAtMs, Date.now())}</>,
      leadsTo: "Invite them",
    },
    stripe(billing.unsettledForADay, "Checkouts unsettled"),
    stripe(billing.orphanedIn30Days, "Purchases without an account"),
    stripe(billing.twiceIn30Days, "Bought twice"),
  ];
  const present = cards.filter(({ count }) => count > 0);
  return present.toSorted((one, other) => urgency.indexOf(one.colour) - urgency.indexOf(other.colour));
}

/** Which of our providers' webhooks refuse what they deliver. */
function Refusing({ hooks }: { hooks: Awaited<ReturnType<typeof findRefusing>> }) {
  if (hooks.length === 0) return null;
  return (
    <>
      <h2>Deliveries are refused</h2>
      {hooks.map(({ what, remedy }) => (
        <p key={what}>
          {what}. {remedy}
        </p>
      ))}
    </>
  );
}

/** What was paid at Stripe for emails without an account, with a button that invites them. */
function Unclaimed({ purchases }: { purchases: UnclaimedPurchase[] }) {
  if (purchases.length === 0) return null;
  return (
    <>
      <h2>Paid, but no account has the email</h2>
      <p>
        Invite the email, and what was bought is given within ten minutes of its account. Or refund it at
        Stripe.
      </p>
      <Table
        rows={purchases}
        columns={{
          Email: ({ email }) => <Person email={email} />,
          Bought: ({ id }) => (id.startsWith("sub_") ? <AtStripe kind="subscriptions" id={id} /> : id),
          When: ({ created_at_ms }) => <Instant atMs={created_at_ms} />,
          Invite: ({ email }) => (
            <PostButton
              action={inviteMany.path}
              hidden={{ emails: email, plan: "hobby" }}
              label={`Invite ${email}`}
            >
              Invite
            </PostButton>
          ),
        }}
      />
    </>
  );
}

function Counts({ accounts, billing, customers, days, ...others }: Counted["overview"]) {
  const { trialsEnding, waiting } = others;
  const figures: [name: string, value: number, href?: string][] = [
    ["Trials", accounts.trials, "/accounts?trials=running"],
    ["Ended trials", accounts.endedTrials, "/accounts?trials=ended"],
    ["Licensed", accounts.licensed, "/accounts?plan=licensed"],
    ["Hobby", accounts.hobby, "/accounts?plan=hobby"],
    ["On the waitlist", waiting, "/waiting"],
    ["Failed mails in 30 days", others.mailsFailedIn30Days, "/mails"],
    ["Apps connected", others.connectedApps],
  ];
  const sinceMs = outageSince("fulfilment");
  return (
    <details className="fold">
      <summary>All numbers</summary>
      <dl className="figures">
        {figures.map(([name, value, href]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{href ? <a href={href}>{value.toLocaleString("en")}</a> : value.toLocaleString("en")}</dd>
          </div>
        ))}
      </dl>
      {settings().billing && (
        <p>
          Customers:{" "}
          {(Object.keys(customerFilters) as CustomerFilter[]).map((filter, at) => (
            <Fragment key={filter}>
              {at > 0 && ", "}
              <a href={customersIn(filter)}>
                {customers[filter].toLocaleString("en")} {customerFilters[filter]}
              </a>
            </Fragment>
          ))}
          . {billing.unsettledForADay} checkouts are unsettled for a day; in 30 days{" "}
          {billing.orphanedIn30Days} purchases without account or for another price,{" "}
          {billing.returnedIn30Days} payments returned, {billing.twiceIn30Days} bought twice.
          {billing.retiredPrices.map(({ id, count }) => (
            <Fragment key={id}>
              {" "}
              No longer sold, and still paid by {Number(count)}: {id}.
            </Fragment>
          ))}{" "}
          Deliveries{" "}
          {sinceMs === undefined ? (
            "are fulfilled."
          ) : (
            <>
              fail: the first <Instant atMs={sinceMs} />.
            </>
          )}{" "}
          <a href="/audit?who=stripe">What Stripe has changed</a>
        </p>
      )}
      {others.mailsNotOpened > 0 && (
        <p>
          {others.mailsNotOpened.toLocaleString("en")} waiting mails were encrypted with another APP_SECRET
          and cannot be opened: <code>npm run -s admin -- check</code> says what to do.
        </p>
      )}
      <h3>Trials that end within 7 days</h3>
      <Table
        rows={trialsEnding}
        most={maxTrials}
        columns={{
          Email: ({ email }) => <Person email={email} />,
          Ends: ({ endsAt }) => <Instant atMs={Date.parse(endsAt ?? "")} />,
        }}
        whenEmpty="None."
      />
      <h3>Last 30 days</h3>
      <dl className="lines">
        <Line name="Sign-ins" days={days.signIns} />
        <Line name="New accounts" days={days.newAccounts} />
        <Line name="Unsubscribes" days={days.unsubscribes} />
      </dl>
    </details>
  );
}

const width = 240;
const height = 48;

/** One bar a day, the last one today. */
function Line({ name, days }: { name: string; days: number[] }) {
  const most = Math.max(1, ...days);
  const sum = days.reduce((all, day) => all + day, 0);
  const step = width / days.length;
  const bars = days.map((day, at) => `M${(at + 0.5) * step} ${height}v${(-height * day) / most}`);
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`${name} a day, at most ${most}`}>
          <path d={bars.join("")} />
        </svg>
        {sum.toLocaleString("en")}
      </dd>
    </div>
  );
}
