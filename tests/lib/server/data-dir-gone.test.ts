import { existsSync, rmSync } from "node:fs";
import { expect, it } from "vitest";
import { startService } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { eventually } from "@/tests/support/databases";

const service = await startService({ SIGN_IN: "local" }, { expectErrors: true });

it("a removed data folder is not recreated, and what needs it says that it is away", async () => {
  await service.adminJson("account", "add", "ceo@example.com", "--plan", "licensed");
  const ceo = await Browser.signIn(service, "ceo@example.com");
  rmSync(service.dataDir, { recursive: true });
  await eventually(async () =>
    expect((await ceo.open("/home")).text).toContain("We cannot check your account at the moment"),
  );
  expect((await ceo.submit("/sign-in/send", { email: "ceo@example.com" })).headers.location).toContain(
    "problem=",
  );
  const joined = await service.submit("/waitlist/join", { email: "reader@example.com" });
  expect(joined.headers.location).toContain("problem=unavailable");
  // The page may be a second old.
  await eventually(async () => expect((await service.ask("/status")).text).toContain("Unavailable"));
  expect(existsSync(service.dataDir)).toBe(false);
});
