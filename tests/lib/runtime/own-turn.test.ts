import { expect, it } from "vitest";
import { ownTurn } from "@/lib/runtime/own-turn";

it("gives each of many callers a turn of the event loop of its own, in order", async () => {
  let [turn, isOver] = [0, false];
  const count = () => {
    turn++;
    if (!isOver) setImmediate(count);
  };
  count();
  const turns = await Promise.all(
    Array.from({ length: 20 }, async () => {
      await ownTurn();
      return turn;
    }),
  );
  isOver = true;
  expect(new Set(turns).size).toBe(20);
  expect(turns).toEqual([...turns].sort((one, other) => one - other));
});
