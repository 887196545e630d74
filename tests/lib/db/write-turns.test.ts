import { expect, it } from "vitest";
import { WriteTurns } from "@/lib/db/sqlite/write-turns";

it("a turn goes to no write that has stopped waiting for it", async () => {
  const turns = new WriteTurns();
  await turns.begin(1000);
  const late = turns.begin(1);
  await expect(late).rejects.toThrow("locked by other writes");
  turns.end();
  await turns.begin(1000);
  const next = turns.begin(1000);
  turns.end();
  await next;
});
