import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { getServers, setServers } from "node:dns/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { checkDkim, checkDmarc, spfDomainOf } from "@/lib/admin/mail-domain";
import { checkSpf } from "@/lib/admin/spf";
import type { MailSettings } from "@/lib/settings/mail-settings";
import { startDnsServer } from "@/tests/support/dns-server";

const domain = "mail.office.example";
const from = { name: "Corner Office", address: `hello@${domain}` };
const privateKey = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
const publicKey = createPublicKey(privateKey).export({ type: "spki", format: "der" }).toString("base64");
const dkim = {
  domainName: domain,
  keySelector: "s1",
  privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
};
const server = { host: "localhost", port: 25, secure: false, requireTLS: false, auth: undefined };
const smtp: MailSettings = { kind: "smtp", from, server, dkim };
const resend = { kind: "resend", from, apiKey: "re_1", baseUrl: "", webhookKey: undefined } as const;

const systems = getServers();
let dns: Awaited<ReturnType<typeof startDnsServer>>;
beforeAll(async () => {
  dns = await startDnsServer();
  setServers([dns.address]);
});
afterAll(() => {
  setServers(systems);
  dns.stop();
});
beforeEach(() => dns.zone.clear());

/** Publishes these records, and answers what is said of SPF. */
async function spfOf(records: Record<string, string[] | "servfail">) {
  for (const [name, answers] of Object.entries(records)) dns.zone.set(name, answers);
  const { level, detail } = await checkSpf(domain);
  return [level, detail];
}

describe("SPF of the mail's domain", () => {
  it.each([
    "v=spf1 ip4:192.0.2.1 -all",
    "V=SPF1 include:_spf.mailer.example ~all",
    "v=spf1 redirect=_spf.mailer.example",
  ])("is fine where it names who sends and ends the rest: %s", async (record) => {
    const other = "google-site-verification=1";
    expect(await spfOf({ [domain]: [other, record], "_spf.mailer.example": ["v=spf1 a -all"] })).toEqual([
      "fine",
      `${domain}: ${record}`,
    ]);
  });

  it("is asked for where Resend takes returned mail", () => {
    expect([spfDomainOf(resend), spfDomainOf(smtp)]).toEqual([`send.${domain}`, domain]);
  });

  it.each<[string, Record<string, string[]>]>([
    ["no such name", {}],
    ["no such record", { [domain]: ["hello", "v=spf10 -all"] }],
  ])("makes mailboxes trust us less where there is none: %s", async (_, records) => {
    const [level, detail] = await spfOf(records);
    expect([level, detail]).toEqual([
      "warning",
      `${domain} names no servers that send for it: large mailboxes trust such mail less`,
    ]);
  });

  it("comes to nothing where there are two", async () => {
    expect(await spfOf({ [domain]: ["v=spf1 a -all", "v=spf1 mx -all"] })).toEqual([
      "fault",
      `${domain} has 2 SPF records, so mailboxes use none of them (RFC 7208 §4.5)`,
    ]);
  });

  it.each([
    ["v=spf1 +all", "lets anybody send for it"],
    ["v=spf1 a all", "lets anybody send for it"],
    ["v=spf1 a ?all", "says nothing of other servers"],
    ["v=spf1 a", "says nothing of other servers"],
  ])("is weak where others may send too: %s", async (record, words) => {
    expect(await spfOf({ [domain]: [record] })).toEqual(["warning", `${domain} ${words}: ${record}`]);
  });

  const tenThings =
    "a mx ptr exists:%{i}.x.example a:b.example a:c.example mx:d.example a:e.example/24 a:f.example";
  it("may cost ten look-ups, those of what is included among them, and no more", async () => {
    const record = "v=spf1 include:many.example -all";
    expect(await spfOf({ [domain]: [record], "many.example": [`v=spf1 ${tenThings} -all`] })).toEqual([
      "fine",
      `${domain}: ${record}`,
    ]);
    expect(await spfOf({ "many.example": [`v=spf1 ${tenThings} mx -all`] })).toEqual([
      "fault",
      `${domain} needs more than 10 look-ups, so mailboxes use nothing of it (RFC 7208 §4.6.4): ${record}`,
    ]);
  });

  it("ends with ten look-ups, too, where it includes itself", async () => {
    const [level, detail] = await spfOf({ [domain]: [`v=spf1 include:${domain} -all`] });
    expect([level, detail]).toEqual(["fault", expect.stringContaining("more than 10 look-ups")]);
  });

  it("comes to nothing where it includes what is not there; a redirect beside all is not followed", async () => {
    expect(await spfOf({ [domain]: ["v=spf1 include:gone.example -all"] })).toEqual([
      "fault",
      `${domain} includes gone.example, which has no SPF records, so mailboxes use nothing of it (RFC 7208 §5.2)`,
    ]);
    const [level] = await spfOf({ [domain]: ["v=spf1 a -all redirect=gone.example"] });
    expect(level).toBe("fine");
  });
});

describe("DKIM of the mail's domain", () => {
  const name = `s1._domainkey.${domain}`;
  const publish = `Publish a TXT record at ${name}: v=DKIM1; k=rsa; p=${publicKey}`;
  it.each<[string, string[] | undefined, object]>([
    ["our key", [`v=DKIM1; k=rsa; p=${publicKey}`], { level: "fine", detail: `${name} has our key` }],
    [
      "no key",
      undefined,
      {
        level: "fault",
        detail: `there is no key at ${name}: mailboxes take every signature for a forgery`,
        remedy: publish,
      },
    ],
    [
      "a revoked key",
      ["v=DKIM1; k=rsa; p="],
      { level: "fault", detail: `the key at ${name} is revoked: every signature fails`, remedy: publish },
    ],
    [
      "another key",
      ["v=DKIM1; p=MIIB"],
      { level: "fault", detail: `the key at ${name} is another: every signature fails`, remedy: publish },
    ],
  ])("is told apart by what is published: %s", async (_, records, verdict) => {
    if (records) dns.zone.set(name, records);
    expect(await checkDkim(smtp)).toEqual(verdict);
  });

  it("is Resend's where Resend sends, and not to be seen where the mail server signs", async () => {
    expect(await checkDkim(resend)).toMatchObject({
      level: "fault",
      detail: expect.stringContaining("Resend"),
    });
    dns.zone.set(`resend._domainkey.${domain}`, ["p=MIGf"]);
    expect(await checkDkim(resend)).toMatchObject({ level: "fine" });
    expect(await checkDkim({ ...smtp, dkim: undefined })).toMatchObject({ level: "warning" });
  });
});

describe("DMARC of the mail's domain", () => {
  it.each<[string, Record<string, string[]>, string, string]>([
    ["reject", { [domain]: ["v=DMARC1; p=reject"] }, "fine", `_dmarc.${domain}: v=DMARC1; p=reject`],
    [
      "none",
      { [domain]: ["v=DMARC1; p=none"] },
      "fine",
      `_dmarc.${domain}: v=DMARC1; p=none. Forged mail is still delivered; p=quarantine would keep it out`,
    ],
    [
      "the domain above",
      { "office.example": ["v=DMARC1; p=quarantine"] },
      "fine",
      "_dmarc.office.example: v=DMARC1; p=quarantine",
    ],
    [
      "the domain above, which asks less of those below it",
      { "office.example": ["v=DMARC1; p=reject; sp=none"] },
      "fine",
      "_dmarc.office.example: v=DMARC1; p=reject; sp=none. Forged mail is still delivered; p=quarantine would keep it out",
    ],
    [
      "two records",
      { [domain]: ["v=DMARC1; p=none", "v=DMARC1; p=reject"] },
      "fault",
      `_dmarc.${domain} has 2 records, so mailboxes use none of them`,
    ],
    [
      "none at all",
      {},
      "warning",
      `there is no DMARC record for ${domain}: Gmail and Yahoo refuse mail in bulk without one`,
    ],
  ])("is found there or above: %s", async (_, records, level, detail) => {
    for (const [name, answers] of Object.entries(records)) dns.zone.set(`_dmarc.${name}`, answers);
    expect(await checkDmarc(smtp)).toMatchObject({ level, detail });
  });
});

describe("a name server that fails", () => {
  afterEach(() => vi.useRealTimers());

  it("is told from a record that is missing", async () => {
    const words = (name: string, why: string) =>
      `DNS does not answer for ${name} (${why}): where mailboxes see the same, they put our mail off`;
    dns.zone.set(domain, "servfail");
    await expect(checkSpf(domain)).rejects.toThrow(words(domain, "SERVFAIL"));
    dns.zone.set(domain, ["v=spf1 include:late.example -all"]);
    dns.zone.set("late.example", "servfail");
    await expect(checkSpf(domain)).rejects.toThrow(words("late.example", "SERVFAIL"));

    dns.zone.set(`_dmarc.${domain}`, "silent");
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const asked = expect(checkDmarc(smtp)).rejects.toThrow(
      words(`_dmarc.${domain}`, "no answer within 3000 ms"),
    );
    await vi.advanceTimersByTimeAsync(3000);
    await asked;
  });
});
