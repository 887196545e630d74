import { monthOf } from "@/lib/accounts/credits/credit-watch";
import { isRecentlyConfirmed } from "@/lib/auth/sessions/owner-confirmation";
import { readCardOf } from "@/lib/billing/customer/card";
import { countTopUps } from "@/lib/billing/top-ups/automatic-purchase";
import { forms } from "@/lib/http/register/forms";
import { type StopReason, stopReasons, whyStopped } from "@/lib/mail/kinds/credits";
import { formatInstant } from "../../instant";
import { PostButton, PostForm } from "../../post-form";
import { readPart } from "../../read-part";
import { readAccess } from "../access/read-access";
import { Confirm } from "../access/sign-in-methods";
import type { OwnVisit } from "../owner-page";
import { AmountField, type Limits } from "./credit-limits";
import { formatCredits } from "./format-credits";
import { type Offer, sellsCreditsTo } from "./offers";

/** What the section of automatic purchases needs; `undefined` where there is none. */
export async function readAutomatic(visit: OwnVisit, limits: Limits) {
  const { account, sessionId, isLocal, nowMs } = visit;
  const isOn = limits?.top_up_price != null;
  if (!isOn && !sellsCreditsTo(account)) return undefined;
  const card = await readPart("the saved card could not be read", (db) => readCardOf(db, account.id, nowMs));
  if (isOn)
    return {
      isOn,
      card,
      bought: await readPart("automatic purchases could not be counted", (db) =>
        countTopUps(db, account.id, nowMs),
      ),
    };
  if (!isLocal)
    return { isOn, card, isConfirmed: isRecentlyConfirmed(visit.confirmedAtMs, nowMs), ways: undefined };
  const access = await readAccess(account, nowMs);
  const own = access?.sessions.find(({ id }) => id === sessionId);
  return { isOn, card, isConfirmed: isRecentlyConfirmed(own?.confirmed_at_ms, nowMs), ways: access?.ways };
}

type AutomaticProps = {
  visit: OwnVisit;
  limits: NonNullable<Limits> | null;
  read: NonNullable<Awaited<ReturnType<typeof readAutomatic>>>;
  offers: Offer[];
  isOpen: boolean;
};

/** Turns on that a pack is bought whenever few credits are left, and off; and says why it is off, if its owner did not do it. */
export function AutomaticPurchase({
  visit: { account, bought, query, isLocal, nowMs },
  limits,
  read,
  offers,
  isOpen,
}: AutomaticProps) {
  const stopped = stopReasons.find((reason) => reason === limits?.top_up_stopped);
  return (
    <li>
      <details className="fold" open={read.isOn || stopped !== undefined || isOpen}>
        <summary>
          <h3 id="automatic">Buy credits automatically</h3>
          <b>{read.isOn ? "On" : "Off"}</b>
        </summary>
        {limits && read.isOn ? (
          <>
            {query.automatic !== undefined && <p role="status">It is on.</p>}
            <TurnedOn limits={limits} read={read} offers={offers} nowMs={nowMs} />
            <PostButton action={forms.endAutomaticPurchase.path} hidden={{ account: account.id }}>
              Turn it off
            </PostButton>
          </>
        ) : (
          <>
            <Stopped why={stopped} />
            <p className="quiet">
              Turned on, it buys a pack when work leaves or finds too few credits, and charges{" "}
              {read.card ? `your ${read.card}` : "your saved card"} without asking again.
            </p>
            {read.card === null && (
              <p>
                You have no saved card:{" "}
                {bought?.hasBought ? "add one under “Manage billing” first." : "buying a plan saves one."}
              </p>
            )}
            {read.isConfirmed ? (
              <StartForm accountId={account.id} offers={offers} />
            ) : isLocal ? (
              <Confirm account={account} ways={read.ways} place="automatic" />
            ) : (
              <p>
                To turn it on, confirm that it is you: choose your picture at the top of this page, then “Sign
                out”, sign in again, and come back here within four minutes.
              </p>
            )}
          </>
        )}
      </details>
    </li>
  );
}

function Stopped({ why }: { why: StopReason | undefined }) {
  if (!why) return null;
  return (
    <p className="problem ours" role="alert">
      It was turned off. {whyStopped[why]}
    </p>
  );
}

function StartForm({ accountId, offers }: { accountId: string; offers: Offer[] }) {
  return (
    <PostForm action={forms.startAutomaticPurchase.path} hidden={{ account: accountId }} className="stack">
      <div>
        <label htmlFor="automatic-credits">Buy</label>
        <select id="automatic-credits" name="credits">
          {offers.map(({ priceId, name, amount }) => (
            <option key={priceId} value={priceId}>
              {[name, amount].filter(Boolean).join(", ")}
            </option>
          ))}
        </select>
      </div>
      <AmountField id="automatic-below" name="below" label="When fewer than this many credits are left" />
      <AmountField id="automatic-most" name="most" label="At most this many times a month (UTC)" />
      <button type="submit">Turn it on</button>
    </PostForm>
  );
}

type TurnedOnProps = {
  limits: NonNullable<Limits>;
  read: { card?: string | null | undefined; bought: number | undefined };
  offers: Offer[];
  nowMs: number;
};

/** What is bought, when, how often, and what is charged. */
function TurnedOn({ limits, read, offers, nowMs }: TurnedOnProps) {
  const { top_up_price, top_up_below_thousandths, top_up_most } = limits;
  const { bought } = read;
  const offer = offers.find(({ priceId }) => priceId === top_up_price);
  const isFull = bought !== undefined && bought >= (top_up_most ?? 0);
  return (
    <>
      <dl className="sum">
        <div>
          <dt>When work leaves or finds fewer than</dt>
          <dd>{formatCredits(top_up_below_thousandths ?? 0)} credits</dd>
        </div>
        <div>
          <dt>It buys</dt>
          <dd>{offer ? [offer.name, offer.amount].filter(Boolean).join(", ") : "A pack"}</dd>
        </div>
        <div>
          <dt>And charges</dt>
          <dd>{read.card === null ? "No card is saved" : (read.card ?? "Your saved card")}</dd>
        </div>
        <div>
          <dt>This month</dt>
          <dd>{bought === undefined ? `At most ${top_up_most}` : `${bought} of at most ${top_up_most}`}</dd>
        </div>
      </dl>
      {isFull && (
        <p className="quiet">
          The next one is bought from {formatInstant(monthOf(nowMs, 1), "date", "UTC")} UTC on.
        </p>
      )}
      {!offer && <p className="quiet">This pack is not sold to you at the moment, so nothing is bought.</p>}
    </>
  );
}
