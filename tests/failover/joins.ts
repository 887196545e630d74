import { Browser } from "@/tests/support/browser";
import { type Caller, findMissing, type World } from "./caller";

const joiners = 4;
const pauseMs = 200;

/** People who join the waitlist: each once, whatever the answer. */
export function startJoins(world: World): Caller {
  const { front, record, run } = world;
  const joined: string[] = [];
  const join = (joiner: number) =>
    record.repeat(pauseMs, async (n) => {
      const email = `joiner-${run}-${joiner}-${n}@example.com`;
      const send = () => new Browser(front).submit("/waitlist/join", { email });
      const answer = await record.once(
        "join",
        send,
        ({ headers }) => headers.location === "/waitlist?joined",
      );
      if (typeof answer === "string") return;
      record.acknowledge("join");
      joined.push(email);
    });
  return {
    stopped: Promise.all(Array.from({ length: joiners }, (_, n) => join(n))),
    findLost: async () => findMissing(world, joined, ["waitlist", "email"]),
  };
}
