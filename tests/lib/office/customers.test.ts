import { describe, expect, it } from "vitest";
import { dayMs } from "@/lib/config/durations";
import { startShop } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { OfficeBrowser } from "@/tests/support/office-browser";
import { reservePort } from "@/tests/support/port";

const instant = String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z \([^)]+\)`;
const minute = String.raw`\d+ \w+ \d{4}, \d\d:\d\d UTC \([^)]+\)`;

describe.each(engines)("the customers that finance and support ask about, on $name", async (engine) => {
  const shop = await startShop(engine, { OFFICE_PORT: String(await reservePort()) }, { isAlone: true });
  const { stripe, service } = shop;

  const paying = await shop.admitLicensed("--trial-ends", "2026-01-01");
  const late = await shop.admitLicensed("--trial-ends", "2026-01-01");
  const unpaid = await shop.admitLicensed("--trial-ends", "2026-01-01");
  shop.pass(30 * dayMs);
  for (const { subscription } of [paying, late]) stripe.renew(subscription);
  stripe.renew(unpaid.subscription, { isPaid: false });
  await shop.deliverAll();
  shop.pass(30 * dayMs);
  stripe.renew(paying.subscription);
  stripe.renew(late.subscription, { isPaid: false });
  await shop.deliverAll();
  await shop.reconcile();
  const ann = await OfficeBrowser.enrol(service, "ann");

  describe("explain and the account's page", () => {
    it.each([
      [
        late.buyer.email,
        `past due since ${instant}\\. €49 is due \\(in_\\w+\\)\\. The licence ends ${instant}\\.`,
      ],
      [
        unpaid.buyer.email,
        `unpaid since ${instant}\\. €49 is due \\(in_\\w+\\)\\. The licence ended ${instant}\\.`,
      ],
    ])("of %s say first what is not paid", async (email, words) => {
      const { stdout } = await service.admin("explain", email);
      expect(stdout).toMatch(new RegExp(`^Payment: The licence is ${words}\nSign-in: `));
      const { text } = await ann.open(`/account?email=${email}`);
      const inMinutes = words.replaceAll(instant, minute);
      expect(text).toMatch(
        new RegExp(
          `</div><p><b>The licence is ${inMinutes}</b></p><p><a [^>]*href="[^"]*/invoices/in_\\w+">Open the invoice</a>`,
        ),
      );
    });

    it.each([
      [
        "returned",
        `What was paid was returned, and Stripe goes on with the subscription\\. The licence ended ${instant}\\. Stripe renews it ${instant}\\.`,
      ],
      ["unknown", `Stripe does not know the subscription any more\\. The licence ends ${instant}\\.`],
      ["invoiced", `An invoice was sent, due ${instant}\\. €49 is due \\(in_\\w+\\)\\.`],
      ["not collected", "Stripe collects no payments: that was paused there\\."],
    ])("of a licence that is %s say what an owner will ask about", async (state, words) => {
      const { buyer, subscription } = await shop.admitLicensed("--trial-ends", "2026-01-01");
      if (state === "returned") stripe.refundCharge(stripe.chargeOf(subscription));
      if (state === "invoiced") {
        stripe.change(subscription, { collection_method: "send_invoice", days_until_due: 30 });
        stripe.renew(subscription, { isPaid: false });
      }
      if (state === "not collected")
        stripe.change(subscription, { pause_collection: { behavior: "void", resumes_at: null } });
      if (state === "unknown") {
        stripe.change(subscription, {});
        stripe.subscriptions.delete(subscription);
      }
      await shop.deliverAll();
      expect((await service.admin("explain", buyer.email)).stdout).toMatch(
        new RegExp(`^Payment: ${words}\nSign-in: `),
      );
      await service.adminJson("account", "delete", buyer.email, "--yes");
    });

    it("of someone who has paid say nothing of it", async () => {
      const { email } = paying.buyer;
      expect((await service.admin("explain", email)).stdout).toMatch(/^Sign-in: /);
      expect(await service.adminJson("explain", email)).toMatchObject({ payment: null });
      const { text } = await ann.open(`/account?email=${email}`);
      expect(text).not.toContain("The licence is");
      expect(text).not.toContain("Open the invoice");
    });
  });

  describe("the list", async () => {
    const admit = () => shop.admitLicensed("--trial-ends", "2026-01-01");
    const [ending, paused, disputed, refunded] = [await admit(), await admit(), await admit(), await admit()];
    stripe.cancelAtPeriodEnd(ending.subscription);
    stripe.pause(paused.subscription);
    stripe.dispute(stripe.chargeOf(disputed.subscription));
    stripe.refundCharge(stripe.chargeOf(refunded.subscription), 1000);
    const browser = await Browser.signIn(service, paying.buyer.email);
    const inYen = await shop.buy({ ...paying.buyer, browser }, { credits: "price_pack" });
    const ofPack = stripe.chargeOf(inYen.session);
    Object.assign(ofPack, { currency: "jpy", amount: 1500 });
    const [firstOfPaying] = [...stripe.charges.values()].filter(({ amount }) => amount === 4900);
    stripe.refundCharge(firstOfPaying ?? expect.fail(), 900);
    await shop.deliverAll();
    const formula = "=1+1@example.com";
    await service.adminJson("account", "add", formula);
    await shop.stage.query(
      `INSERT INTO billing_customers (account_id, customer_id, created_at_ms)
       SELECT id, 'cus_formula', 1 FROM accounts WHERE email = '${formula}'`,
    );
    await shop.admit(); // is no customer

    const nameOf = ({ buyer }: typeof late) => buyer.email.replace("@example.com", "");
    const all = [refunded, disputed, paused, ending, unpaid, late, paying].map(nameOf);
    const emailsOn = (text: string) =>
      [...text.matchAll(/<bdi>([^<@]+)@example\.com<\/bdi>/g)].map(([, name]) => name);
    /** Of a file whose first character is the mark by which Excel knows UTF-8. */
    const rowsOf = (csv: string) =>
      csv
        .replace(/^\ufeff/, "")
        .trimEnd()
        .split("\r\n");
    const filters = [
      ["past-due", "Payment due", [late]],
      ["unpaid", "Not paid", [unpaid]],
      ["unfinished", "Not paid yet", []],
      ["paused", "Paused", [paused]],
      ["ending", "Ending", [ending]],
      ["refunded", "Refunded", [refunded, paying]],
      ["disputed", "Disputed", [disputed]],
      ["unknown", "Plan unknown", []],
    ] as const;

    it("has every customer, newest first, and no one else", async () => {
      for (const query of ["", "?filter=toString"])
        expect(emailsOn((await ann.open(`/customers${query}`)).text)).toEqual([...all, "=1+1"]);
    });

    it.each(filters)(
      "filtered by %s has these customers only, on the page, in the shell and as CSV",
      async (...row) => {
        const [filter, , found] = row;
        const names = found.map(nameOf);
        const shown = (await ann.open(`/customers?filter=${filter}`)).text;
        expect(emailsOn(shown)).toEqual(names);
        const count = ["", "1 customer. ", "2 customers. "][names.length] ?? expect.fail("another count");
        expect(shown.replaceAll("<!-- -->", "")).toContain(
          `<p class="quiet">${count || " "}<a href="/customers">Clear</a></p>`,
        );
        const listed = await service.adminJson<{ email: string }[]>("billing", "list", "--filter", filter);
        expect([...new Set(listed.map(({ email }) => email))]).toEqual(
          names.map((name) => `${name}@example.com`),
        );
        const { text } = await ann.open(`/customers.csv?filter=${filter}`);
        const { stdout } = await service.admin("billing", "list", "--filter", filter, "--csv");
        expect(`\ufeff${stdout}`).toBe(text);
        expect(rowsOf(text).length).toBe(listed.length === 0 ? 1 : listed.length + 1);
      },
    );

    it("is where each of Today's numbers leads", async () => {
      const open = async () => (await ann.open("/today")).text;
      await eventually(async () => expect(await open(), "it is counted").toContain("Customers: "));
      const text = await open();
      for (const [filter, words, found] of filters)
        expect(text).toContain(`<a href="/customers?filter=${filter}">${found.length} ${words}</a>`);
      const cards = [...text.matchAll(/<li><a href="\/customers\?filter=([\w-]+)"><strong>(\d+)/g)];
      const waits = ["disputed", "unpaid", "unfinished", "past-due", "unknown"];
      expect(
        cards.map(([, ...card]) => card),
        "a card for each that needs someone",
      ).toEqual(
        waits.flatMap((name) => {
          const count = filters.find(([filter]) => filter === name)?.[2].length ?? 0;
          return count > 0 ? [[name, String(count)]] : [];
        }),
      );
      expect(await service.adminJson("overview")).toMatchObject({ customers: { unpaid: 1, refunded: 2 } });
    });

    it("finds a customer by a part of the email, and by Stripe's ids", async () => {
      const { customerId } = (
        await service.adminJson<{ customer: { customerId: string } }>("billing", "show", late.buyer.email)
      ).customer;
      const invoice = /in_\w+/.exec((await service.admin("explain", late.buyer.email)).stdout)?.[0];
      const { id: charge } = stripe.chargeOf(late.subscription);
      for (const text of [
        nameOf(late).toUpperCase(),
        customerId,
        late.subscription,
        late.session,
        invoice,
        charge,
      ])
        expect(emailsOn((await ann.open(`/customers?find=${text}`)).text), text).toEqual([nameOf(late)]);
      expect(emailsOn((await ann.open("/customers?find=%25")).text)).toEqual([]);
      expect(emailsOn((await ann.open("/customers?find=sub_none")).text)).toEqual([]);
      expect((await ann.open(`/customers?filter=unpaid&find=${nameOf(late)}`)).text).toContain(
        "No customer matches.",
      );
    });

    it("says the state as the account's page does, and what was paid in each currency, less what was returned", async () => {
      const { text } = await ann.open("/customers");
      const rowOf = (of: typeof late) => text.split("<tr>").find((row) => row.includes(of.buyer.email)) ?? "";
      const cellOf = (of: typeof late, column: string) =>
        new RegExp(`<td data-column="${column}">(.*?)</td>`)
          .exec(rowOf(of))?.[1]
          ?.replace(/<[^>]*>/g, " ")
          .replace(/\s+/g, " ")
          .trim();
      const day = String.raw`\d+ \w+ \d{4}`;
      expect(cellOf(paying, "Paid")).toBe("€147.00 €9.00 returned ¥1,500");
      expect(cellOf(late, "Paid")).toBe("€98.00");
      expect(cellOf(unpaid, "Paid")).toBe("€49.00");
      expect(cellOf(refunded, "Paid")).toBe("€49.00 €10.00 returned");
      for (const [of, words] of [
        [late, "Payment due since"],
        [ending, "Cancelled ends"],
        [unpaid, "Not paid since"],
        [paying, "Licensed Refunded renews"],
      ] as const)
        expect(cellOf(of, "State")).toMatch(new RegExp(`^${words} ${day} \\S`));
      expect([late, paying].map((of) => cellOf(of, "Due"))).toEqual(["€49.00", "–"]);
    });

    it("is also in that of accounts: what each owes, and by a filter those that owe alone", async () => {
      const { text } = await ann.open("/accounts");
      const dueOf = ({ buyer }: typeof late) =>
        new RegExp(`<tr>(?:(?!<tr>).)*${buyer.email}.*?<td data-column="Due">(.*?)</td>`, "s").exec(
          text,
        )?.[1];
      expect([late, unpaid].map(dueOf)).toEqual(["€49.00", "€49.00"]);
      expect(dueOf(paying)).not.toContain("€");
      expect(text).toContain('<a href="/accounts?payment=due">Due</a>');
      const owing = (await ann.open("/accounts?payment=due")).text;
      expect(emailsOn(owing)).toEqual([late, unpaid].map(nameOf).toSorted());
      const [, ...rows] = rowsOf((await ann.open("/accounts.csv?payment=due")).text);
      expect(rows.map((row) => /"(€[^"]*)"/.exec(row)?.[1])).toEqual(["€49.00", "€49.00"]);
    });

    it("as CSV has a row for each currency with exact decimals, and no cell that a spreadsheet computes", async () => {
      const { status, headers, text } = await ann.open("/customers.csv");
      expect([
        status,
        headers["content-type"],
        headers["content-disposition"],
        headers["cache-control"],
        text[0],
      ]).toEqual([
        200,
        "text/csv; charset=utf-8",
        'attachment; filename="customers.csv"',
        "no-store",
        "\ufeff",
      ]);
      const [header, ...rows] = rowsOf(text);
      expect(header).toBe(
        '"email","customer","state","licence","subscription","price","periodEnds","unpaidSince","licenceEnds","due","currency","paid","returned","kept","firstPayment"',
      );
      const time = String.raw`"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"`;
      const start = `"${paying.buyer.email}","cus_\\w+","Licensed","renews","${paying.subscription}","price_month",${time},"","",""`;
      const ofPaying = rows.filter((row) => row.includes(paying.buyer.email));
      expect(ofPaying[0]).toMatch(new RegExp(`^${start},"EUR","147.00","9.00","138.00",${time}$`));
      expect(ofPaying[1]).toMatch(new RegExp(`^${start},"JPY","1500","0","1500",${time}$`));
      expect(ofPaying).toHaveLength(2);
      expect(rows.at(-1)).toBe(`"'${formula}","cus_formula","Trial","","","","","","","","","","","",""`);
      const { headers: stranger } = await new OfficeBrowser(service).open("/customers.csv");
      expect(stranger.location).toBe("/enter?to=%2Fcustomers.csv");
    });

    it("says the same of an unpaid licence next to one that we gave as that of accounts does", async () => {
      const { email } = late.buyer;
      await service.adminJson("account", "set", email, "--plan", "licensed", "--assistant-limit", "none");
      const stateIn = async (list: string, column: string) => {
        const { text } = await ann.open(`${list}?find=${email}`);
        return new RegExp(`<td data-column="${column}">.*?</td>`, "s").exec(text)?.[0];
      };
      const light = /data-colour="good".*<span>Licensed</s;
      expect(await stateIn("/customers", "State")).toMatch(light);
      expect(await stateIn("/accounts", "State")).toMatch(light);
    });

    it("leads from page to page, and the file has all pages", async () => {
      const rows = Array.from({ length: 60 }, (_, at) => `page-${String(at).padStart(2, "0")}`);
      for (const [table, columns, values] of [
        ["accounts", "id, email, plan, created_at_ms, credit_thousandths", "'@example.com', 'hobby', 1, 0"],
        ["billing_customers", "account_id, customer_id, created_at_ms", "'', 5"],
      ] as const)
        await shop.stage.query(
          `INSERT INTO ${table} (${columns}) VALUES ${rows.map((name) => `('${name}', '${name}' || ${values})`).join(", ")}`,
        );
      const first = await ann.open("/customers?find=PAGE-");
      const [, next = ""] = /href="([^"]+)">Next/.exec(first.text) ?? [];
      const second = await ann.open(next.replaceAll("&amp;", "&"));
      expect([...emailsOn(first.text), ...emailsOn(second.text)]).toEqual(rows.toReversed());
      expect(second.text).not.toContain(">Next");
      expect(rowsOf((await ann.open("/customers.csv?find=page-")).text)).toHaveLength(61);
      const limited = await service.adminJson<object[]>("billing", "list", "--find", "page-", "--limit", "2");
      expect(limited).toHaveLength(2);
      await shop.stage.query("DELETE FROM accounts WHERE id LIKE 'page-%'");
    });

    it("counts from the period that runs, in a store that an earlier build has filled", async () => {
      await shop.stage.query("DELETE FROM billing_payments");
      expect((await ann.open("/customers")).text).not.toMatch(
        /<td data-column="Paid">(?!<span class="none">)/,
      );
      shop.pass(dayMs);
      await shop.reconcile();
      const listed = await service.adminJson<object[]>("billing", "list", "--find", paying.buyer.email);
      expect(listed).toMatchObject([
        // The period that runs, and the earlier payment whose refund Stripe lists.
        { currency: "EUR", paid: "98.00", returned: "9.00" },
        { currency: "JPY", paid: "1500" },
      ]);
    });

    it("goes with the person, whose export has the payments", async () => {
      const { email } = disputed.buyer;
      const { billing } = await service.adminJson<{ billing: object }>("person", "export", email);
      expect(billing).toMatchObject({
        payments: [
          { amount: 4900, returned: 0, dispute: "open", currency: "eur", bought: disputed.subscription },
        ],
      });
      await service.adminJson("person", "erase", email, "--yes");
      expect(await shop.stage.query(`SELECT id FROM billing_payments WHERE dispute IS NOT NULL`)).toEqual([]);
    });
  });
});
