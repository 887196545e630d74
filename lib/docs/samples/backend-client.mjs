import { Outage, Refused } from "./corner-office-backend.ts";

const [account] = await Array.fromAsync(api.accounts({ email: "licensed@example.com" }));

// Holds while some work lasts. What it has used is spent, also if it throws; the rest goes back.
const film = { credits: "1", reason: "A film", expiresInSeconds: 600 };
await api.whileHolding(account.id, film, async (hold) => {
  hold.used = "0.4";
});

// A key that you can make again finds the first answer, also after your program has ended.
try {
  await api.spend(account.id, { credits: "0.125", reason: "A page", reference: "job 7" }, "job 7");
} catch (failure) {
  if (failure instanceof Refused) console.log(failure.code, failure.answer.balance); // nothing was spent
  else if (failure instanceof Outage) console.log("not known yet: call again later with", failure.key);
  else throw failure;
}

// The spends of a minute in one request. Each has its own result: an entry, or an error.
const spends = ["A", "B"].map((reason) => ({ account: account.id, credits: "0.5", reason }));
for (const result of await api.spendEach(spends)) console.log("error" in result ? result.error.code : result.id);

// What came since the last entry that you have seen.
let last = "";
for await (const entry of api.entries({ account: account.id, after: last })) last = entry.id;

// What each plan allows; no such name, and null, is no limit. An account and a check have the same fields.
for await (const { name, limits } of api.plans()) console.log(name, limits.projects ?? "without a limit");

// Whether the owner of a session token may run, and a spend in the same step if they may.
const checked = await api.check(process.env.CORNER_OFFICE_TOKEN ?? "", { spend: { credits: "0.1", reason: "A page" } });
console.log(checked.ok ? checked.entry?.balance : checked.message);
