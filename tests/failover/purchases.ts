import { Browser } from "@/tests/support/browser";
import { countGiven, type Purchase } from "@/tests/support/purchases";
import { sessionIn } from "@/tests/support/shop";
import type { StripeStandIn } from "@/tests/support/stripe-stand-in";
import type { Caller, World } from "./caller";

const pauseMs = 500;

/** The browser of an owner who was signed in when the drill began. */
export function browserOf({ front }: Pick<World, "front">, { cookie, from }: Purchase): Browser {
  const browser = new Browser(front, from);
  const [name = "", value = ""] = cookie.split("=");
  browser.cookies.set(name, value);
  return browser;
}

/** Owners who buy licences and credits, and Stripe, which reports them. */
export function startPurchases(world: World, stripe: StripeStandIn, owners: Purchase[]): Caller {
  const { front, record } = world;
  const bought: Purchase[] = [];
  const stopped = record.repeat(pauseMs, async () => {
    const owner = owners.shift();
    if (!owner) throw new Error("there are too few owners");
    const { account, kind } = owner;
    const fields = { account, [kind]: kind === "licence" ? "price_month" : "price_pack" };
    const press = () => browserOf(world, owner).submit("/home/checkout", fields);
    const answer = await record.untilDone("purchase", press, ({ status }) => status === 200);
    if (!answer) return;
    stripe.pay(sessionIn(answer));
    for (const event of stripe.takeEvents()) {
      const deliver = () => stripe.deliver(front, event);
      if (!(await record.untilDone("purchase", deliver, ({ status }) => status === 200))) return;
    }
    record.acknowledge("purchase");
    bought.push(owner);
  });
  return {
    stopped,
    async findLost() {
      const { lost, twice } = await countGiven(world, bought);
      if (twice > 0) record.say("purchase", `${twice} given twice`);
      return Array.from({ length: lost }, () => "a purchase");
    },
  };
}
