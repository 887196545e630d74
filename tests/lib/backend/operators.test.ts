import { describe, expect, it } from "vitest";
import { BackendCaller, withBackendApi } from "@/tests/support/backend-caller";
import { startService, startStage } from "@/tests/support/block";
import { engines } from "@/tests/support/engines";
import { hiddenField, OfficeBrowser } from "@/tests/support/office-browser";
import { reservePort } from "@/tests/support/port";

describe.each(engines)("operators while a backend is busy on $name", async (engine) => {
  const stage = await startStage(engine);
  const office = { ...stage.environment, OFFICE_PORT: String(await reservePort()) };
  const service = await startService(await withBackendApi(office));
  const worker = await BackendCaller.add(service, "worker");
  const add = (email: string, credits: string) =>
    service.adminJson<{ id: string }>("account", "add", email, "--credits", credits);
  const spend = (id: string) => worker.post(`/v1/accounts/${id}/spends`, { credits: 1, reason: "A page" });

  it("give credits by the form of the office, although the balance is another by then", async () => {
    const email = "ceo@example.com";
    const { id } = await add(email, "3");
    const ann = await OfficeBrowser.enrol(service, "ann");
    const once = hiddenField(await ann.open(`/account?email=${email}`), "once");
    expect((await spend(id)).status).toBe(200);
    const send = () => ann.submit("/account/credits", { email, once, amount: "5", reason: "a present" });
    expect((await send()).headers.location).toBe("/account?email=ceo%40example.com&done=credits");
    const again = await send();
    expect(again.status).toBe(409);
    expect(again.text).toContain("This was done before. The balance is now 7.");
    // What is refused comes back as a form that can be sent.
    const anew = await ann.submit("/account/credits", {
      email,
      once: hiddenField(again, "once"),
      amount: "5",
      reason: "a present",
    });
    expect(anew.status).toBe(303);
    expect(JSON.parse((await worker.get(`/v1/accounts/${id}`)).text).balance).toBe(12);
    const without = await ann.submit("/account/credits", { email, amount: "5", reason: "a present" });
    expect(without.status).toBe(400);
  });

  it("give and take credits by the command while every transaction spends some", async () => {
    const email = "busy@example.com";
    const { id } = await add(email, "100000");
    let isOver = false;
    let spent = 0;
    const spending = Array.from({ length: 8 }, async () => {
      while (!isOver) if ((await spend(id)).status === 200) spent++;
    });
    const outcomes = [];
    for (const amount of ["5", "-2", "4"])
      outcomes.push(await service.admin("credits", "add", email, amount));
    isOver = true;
    await Promise.all(spending);
    expect(outcomes.map(({ code, stderr }) => [code, stderr])).toEqual(Array(3).fill([0, ""]));
    expect(spent).toBeGreaterThan(0);
    expect(JSON.parse((await worker.get(`/v1/accounts/${id}`)).text).balance).toBe(100_007 - spent);
  });

  it("see one of two backends take a reference, and the other one refused, at once", async () => {
    const [one, other] = [await add("one@example.com", "0"), await add("other@example.com", "0")];
    const commit = await stage.change(`UPDATE accounts SET reference = 'seven' WHERE id = '${one.id}'`);
    const asked = worker.post(`/v1/accounts/${other.id}/reference`, { reference: "seven" });
    // By then it has read that the reference is free.
    for (let turn = 0; turn < 5; turn++) await worker.get(`/v1/accounts/${other.id}`);
    await commit();
    const { status, text } = await asked;
    expect([status, JSON.parse(text).error.code]).toEqual([409, "reference_taken"]);
  });
});
