import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { getServers, setServers } from "node:dns/promises";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { checkDkim, checkDmarc, checkSpf } from "@/lib/admin/mail-domain";
import type { MailSettings } from "@/lib/config/mail-settings";
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
const server = {
  name: "office.example.com",
  host: "localhost",
  port: 25,
  secure: false,
  requireTLS: false,
  auth: undefined,
};
const smtp: MailSettings = { kind: "smtp", from, server, dkim };
const resend = { kind: "resend", from, apiKey: "re_1", baseUrl: "", webhookKey: undefined } as const;

const systems = getServers();
const dns = await startDnsServer();
setServers([dns.address]);
afterAll(() => {
  setServers(systems);
  dns.stop();
});
beforeEach(() => dns.zone.clear());

describe("SPF of the mail's domain", () => {
  it.each([
    "v=spf1 ip4:192.0.2.1 -all",
    "V=SPF1 include:_spf.mailer.example ~all",
    "v=spf1 redirect=_spf.mailer.example",
  ])("is fine if it rejects other senders: %s", async (record) => {
    dns.zone.set(domain, ["google-site-verification=1", record]);
    expect(await checkSpf(smtp)).toEqual({ level: "fine", detail: `${domain}: ${record}` });
  });

  it.each(["v=spf1 +all", "v=spf1 a all", "v=spf1 a ?all", "v=spf1 a"])(
    "is weak if other senders may send: %s",
    async (record) => {
      dns.zone.set(domain, [record]);
      expect(await checkSpf(smtp)).toEqual({
        level: "warning",
        detail: `${domain} allows any server to send: ${record}`,
        remedy: "End the record with ~all or -all.",
      });
    },
  );

  it.each([undefined, ["hello", "v=spf10 -all"]])("is reported as missing: %j", async (records) => {
    if (records) dns.zone.set(domain, records);
    expect(await checkSpf(smtp)).toMatchObject({
      level: "warning",
      detail: `no SPF record at ${domain}: large mailbox providers trust such mail less`,
    });
  });

  it("is looked up at Resend's subdomain for bounces", async () => {
    dns.zone.set(`send.${domain}`, ["v=spf1 include:amazonses.com ~all"]);
    expect(await checkSpf(resend)).toEqual({
      level: "fine",
      detail: `send.${domain}: v=spf1 include:amazonses.com ~all`,
    });
  });
});

it.each([
  ["SPF", domain, ["v=spf1 a -all", "v=spf1 mx -all"], () => checkSpf(smtp)],
  ["DKIM", `s1._domainkey.${domain}`, [`p=${publicKey}`, "p=MIIB"], () => checkDkim(smtp)],
  ["DMARC", `_dmarc.${domain}`, ["v=DMARC1; p=none", "v=DMARC1; p=reject"], () => checkDmarc(smtp)],
])("two records of %s are invalid", async (_, name, records, check) => {
  dns.zone.set(name, records);
  expect(await check()).toEqual({
    level: "fault",
    detail: `${name} has more than one such record, so mailbox providers ignore them all`,
    remedy: "Keep one of them.",
  });
});

describe("DKIM of the mail's domain", () => {
  const name = `s1._domainkey.${domain}`;
  const publish = `Publish a TXT record at ${name}: v=DKIM1; k=rsa; p=${publicKey}`;
  const differs = `${name} has a different key than the one that signs:`;
  const record = `v=DKIM1; k=rsa; p=${publicKey}`;

  it.each<[string, string[], object]>([
    ["our key", [record], { level: "fine", detail: `${name}: ${record}` }],
    [
      "no key",
      [],
      { level: "fault", detail: `no DKIM record at ${name}: every signature fails`, remedy: publish },
    ],
    ["a key withdrawn", ["p="], { level: "fault", detail: `${differs} p=`, remedy: publish }],
    ["another key", ["p=MIIB"], { level: "fault", detail: `${differs} p=MIIB`, remedy: publish }],
  ])("has %s", async (_, records, finding) => {
    if (records.length > 0) dns.zone.set(name, records);
    expect(await checkDkim(smtp)).toEqual(finding);
  });

  it("is Resend's key when Resend sends, and unknown when the mail server signs", async () => {
    const remedy = expect.stringContaining("Resend");
    expect(await checkDkim(resend)).toMatchObject({ level: "fault", remedy });
    dns.zone.set(`resend._domainkey.${domain}`, ["p=MIGf"]);
    expect(await checkDkim(resend)).toMatchObject({ level: "fine" });
    expect(await checkDkim({ ...smtp, dkim: undefined })).toMatchObject({ level: "warning" });
  });
});

describe("DMARC of the mail's domain", () => {
  const own = `_dmarc.${domain}`;
  const noPolicy = "v=DMARC1; p=none; sp=reject";
  it.each([
    [own, "v=DMARC1; p=reject", "fine", `${own}: v=DMARC1; p=reject`],
    [own, noPolicy, "warning", `${own} does not block forged mail: ${noPolicy}`],
    [
      "_dmarc.office.example",
      "v=DMARC1; p=quarantine",
      "fine",
      "_dmarc.office.example: v=DMARC1; p=quarantine",
    ],
    [
      "_dmarc.other.example",
      "",
      "warning",
      `no DMARC record for ${domain}: Gmail and Yahoo reject bulk mail without one`,
    ],
  ])("is found at the domain or a parent: %s %s", async (name, record, level, detail) => {
    dns.zone.set(name, [record]);
    expect(await checkDmarc(smtp)).toMatchObject({ level, detail });
  });
});

describe("a failing name server", () => {
  afterEach(() => vi.useRealTimers());

  it("is distinguished from a missing record", async () => {
    const words = (name: string, why: string) =>
      `DNS does not answer for ${name} (${why}): mailbox providers that see the same delay our mail`;
    dns.zone.set(domain, "servfail");
    await expect(checkSpf(smtp)).rejects.toThrow(words(domain, "SERVFAIL"));

    dns.zone.set(`_dmarc.${domain}`, "silent");
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const asked = expect(checkDmarc(smtp)).rejects.toThrow(
      words(`_dmarc.${domain}`, "no answer within 3000 ms"),
    );
    await vi.advanceTimersByTimeAsync(3000);
    await asked;
  });
});
