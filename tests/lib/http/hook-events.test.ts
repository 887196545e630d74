import { createHmac } from "node:crypto";
import { Resend } from "resend";
import { describe, expect, it } from "vitest";
import { whyUnsigned } from "@/lib/http/hook-events";

const key = Buffer.from("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "base64");
const body = Buffer.from('{"test": 2432232314}');
const example = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: "1614265330" };
const atMs = 1_614_265_330_000;
const headersOf = (fields: object, prefix = "svix") =>
  new Headers(
    Object.entries(fields).map(([name, value]) => [`${prefix}-${name}`, value] as [string, string]),
  );
const sign = (timestamp: string) =>
  `v1,${createHmac("sha256", key).update(`${example.id}.${timestamp}.${body}`).digest("base64")}`;

const isSigned = (...sent: Parameters<typeof whyUnsigned>) => whyUnsigned(...sent) === undefined;

describe("whyUnsigned", () => {
  it("says yes where another implementation says yes", () => {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const headers = { ...example, timestamp, signature: sign(timestamp) };
    const webhookSecret = `whsec_${key.toString("base64")}`;
    new Resend("re_x").webhooks.verify({ payload: body.toString(), headers, webhookSecret });
    expect(isSigned(headersOf(headers), body, key, Date.now())).toBe(true);
  });

  it("takes both names of the headers, and any one of several signatures", () => {
    const signature = sign(example.timestamp);
    expect(isSigned(headersOf({ ...example, signature }, "webhook"), body, key, atMs)).toBe(true);
    const several = { ...example, signature: `v1a,x v1,AAAA ${signature}` };
    expect(isSigned(headersOf(several), body, key, atMs)).toBe(true);
    const behind = (others: number) => ({
      ...example,
      signature: `${"v1,AAAA ".repeat(others)}${signature}`,
    });
    expect(isSigned(headersOf(behind(9)), body, key, atMs), "the tenth").toBe(true);
    expect(isSigned(headersOf(behind(10)), body, key, atMs), "a stranger's thousands are not compared").toBe(
      false,
    );
  });

  it("says no to a byte that differs, in the body, the key, the id, the time or the signature", () => {
    const good = { ...example, signature: sign(example.timestamp) };
    const check = (fields: object, content = body, by = key) =>
      isSigned(headersOf({ ...good, ...fields }), content, by, atMs);
    expect(check({})).toBe(true);
    expect(check({}, Buffer.from('{"test": 2432232315}'))).toBe(false);
    expect(check({}, body, Buffer.alloc(24))).toBe(false);
    expect(check({ id: "msg_other" })).toBe(false);
    expect(check({ timestamp: "1614265331" })).toBe(false);
    expect(check({ signature: good.signature.replace("v1,", "v2,") })).toBe(false);
    expect(check({ signature: good.signature.slice(0, -1) })).toBe(false);
    for (const name of ["id", "timestamp", "signature"]) expect(check({ [name]: "" }), name).toBe(false);
    expect(check({ timestamp: "soon" })).toBe(false);
    const ofNoId = `v1,${createHmac("sha256", key).update(`.${example.timestamp}.${body}`).digest("base64")}`;
    expect(check({ id: "", signature: ofNoId }), "a signature that fits a delivery without an id").toBe(
      false,
    );
  });

  it("says no to a delivery more than five minutes old, or as far in the future", () => {
    const headers = headersOf({ ...example, signature: sign(example.timestamp) });
    const limitMs = 5 * 60 * 1000;
    expect(isSigned(headers, body, key, atMs + limitMs)).toBe(true);
    expect(isSigned(headers, body, key, atMs + limitMs + 1)).toBe(false);
    expect(isSigned(headers, body, key, atMs - limitMs)).toBe(true);
    expect(isSigned(headers, body, key, atMs - limitMs - 1)).toBe(false);
  });
});
