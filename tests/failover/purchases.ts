import { setTimeout as sleep } from "node:timers/promises";
import { Browser } from "@/tests/support/browser";
import type { FindLost } from "@/tests/support/callers";
import type { Calls } from "@/tests/support/calls";
import { countGiven, type Purchase } from "@/tests/support/purchases";
import type { Answer, Service } from "@/tests/support/service";
import { sessionIn } from "@/tests/support/shop";
import type { Office } from "./office";

const pauseMs = 500;
/** How long one waits before a refused request is sent again, in the manner of a person at a form. */
const againAfterMs = 1500;

/** The browser of an owner who was signed in when the drill began. */
export function browserOf(front: Service, { cookie, from }: Purchase): Browser {
  const browser = new Browser(front, from);
  const [name = "", value = ""] = cookie.split("=");
  browser.cookies.set(name, value);
  return browser;
}

/** Owners who buy licences and credits, and Stripe, which reports them. */
export function startPurchases({ service, stripe, owners, query }: Office, calls: Calls): FindLost {
  const bought: Purchase[] = [];
  const untilDone = async (send: () => Promise<Answer>) => {
    for (; !calls.isStopped; await sleep(againAfterMs)) {
      const answer = await calls.send("purchase", send);
      if (answer) return answer;
    }
    return undefined;
  };
  calls.loop("purchase", pauseMs, async () => {
    const owner = owners.shift();
    if (!owner) throw new Error("there are too few owners");
    const { account, kind } = owner;
    const fields = { account, [kind]: kind === "licence" ? "price_month" : "price_pack" };
    const answer = await untilDone(() => browserOf(service, owner).submit("/home/checkout", fields));
    if (!answer) return;
    stripe.pay(sessionIn(answer));
    for (const event of stripe.takeEvents())
      if (!(await untilDone(() => stripe.deliver(service, event)))) return;
    bought.push(owner);
  });
  return async () => {
    const { lost, twice } = await countGiven({ query }, bought);
    if (twice > 0) calls.sayWrong("purchase", `${twice} given twice`);
    return Array.from({ length: lost }, () => "a purchase");
  };
}
