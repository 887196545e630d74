import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { startService, startStage } from "@/tests/support/block";
import { between, expectRefusal } from "@/tests/support/contract";
import { laterStates } from "@/tests/support/due-mails";
import { engines } from "@/tests/support/engines";
import { unconfigured } from "@/tests/support/unconfigured";

const key = Buffer.alloc(24, "k");
const resend = {
  APP_URL: "https://office.example.com",
  EMAIL_FROM: "office@example.com",
  RESEND_API_KEY: "re_test",
  // Nothing listens there, so no mail is sent.
  RESEND_BASE_URL: "http://127.0.0.1:9",
  RESEND_WEBHOOK_SECRET: `whsec_${key.toString("base64")}`,
};

describe.each(engines)("POST /hooks/resend on $name", async (engine) => {
  const stage = await startStage(engine);
  const service = await startService({ ...stage.environment, ...resend }, { expectErrors: true });

  function deliver(event: unknown, { signedWith = key } = {}) {
    const body = typeof event === "string" ? event : JSON.stringify(event);
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = createHmac("sha256", signedWith).update(`msg_1.${timestamp}.${body}`).digest("base64");
    const headers = { "svix-id": "msg_1", "svix-timestamp": timestamp, "svix-signature": `v1,${signature}` };
    return service.ask("/hooks/resend", { method: "POST", body, headers });
  }

  async function recipient(email: string) {
    await service.adminJson("account", "add", email);
    return () => laterStates(stage, email);
  }

  const scheduled = ["scheduled"];
  const stopped = ["stopped"];
  const bounce = (to: string, type: string) => ({
    type: "email.bounced",
    data: { to: [to], bounce: { type } },
  });

  it.each([
    ["bounced permanently, also when repeated", "gone@example.com", ["Permanent", "Permanent"]],
    ["bounced, and no one knows for how long", "lost@example.com", ["Undetermined"]],
  ])("stops the mails to an address that %s", async (_, email, types) => {
    const states = await recipient(email);
    for (const type of types) {
      const answer = await deliver(
        bounce(
          email.replace(/^./, (first) => first.toUpperCase()),
          type,
        ),
      );
      expect({ status: answer.status, text: answer.text }).toEqual({ status: 204, text: "" });
    }
    expect(await states()).toEqual(stopped);
  });

  it("stops the mails to a recipient who reported spam", async () => {
    const states = await recipient("cross@example.com");
    const complained = { type: "email.complained", data: { to: ["cross@example.com"] } };
    expect((await deliver(complained)).status).toBe(204);
    expect(await states()).toEqual(stopped);
  });

  it.each([
    ["a text", (email: string) => email],
    ["a text with a name", (email: string) => `"Ceo, the" <${email}>`],
    ["a list of more than emails", (email: string) => [null, "nobody", { email }, email]],
    ["an address in quotes", () => '"odd.."@docomo.ne.jp', "odd..@docomo.ne.jp"],
  ])(
    "stops the mails to a recipient that is named by %s",
    async (what, to, email = `${what.replaceAll(" ", "-")}@example.com`) => {
      const states = await recipient(email);
      const event = { type: "email.bounced", data: { to: to(email), bounce: null } };
      expect((await deliver(event)).status).toBe(204);
      expect(await states()).toEqual(stopped);
    },
  );

  it("stops the mails to an address to which Resend delivers no longer", async () => {
    const [listed, added] = [await recipient("listed@example.com"), await recipient("added@example.com")];
    await deliver({ type: "email.suppressed", data: { to: ["listed@example.com"], suppressed: {} } });
    const { status } = await deliver({
      type: "suppression.added",
      data: { id: "sup_1", email: "added@example.com", origin: "bounce", source_id: null },
    });
    expect(status).toBe(204);
    expect([await listed(), await added()]).toEqual([stopped, stopped]);
  });

  it("does not stop the mails after a transient bounce or an unknown event", async () => {
    const states = await recipient("full@example.com");
    const opened = { type: "email.opened", data: { to: ["full@example.com"] } };
    for (const event of [bounce("full@example.com", "Transient"), opened, { type: "__proto__", data: {} }]) {
      expect((await deliver(event)).status).toBe(204);
    }
    expect(await states()).toEqual(scheduled);
  });

  it("answers 400 to a delivery that is not signed with our key, and changes nothing", async () => {
    const states = await recipient("safe@example.com");
    const event = bounce("safe@example.com", "Permanent");
    const errorParts = { status: 400, code: "invalid_signature" } as const;
    expectRefusal(service, await deliver(event, { signedWith: Buffer.alloc(24) }), errorParts);
    const unsigned = { method: "POST", body: JSON.stringify(event) };
    expectRefusal(service, await service.ask("/hooks/resend", unsigned), errorParts);
    expect(await states()).toEqual(scheduled);
  });

  it("refuses a body that is not an event or over 256 KiB", async () => {
    const message = "The delivery is not an event in JSON.";
    for (const body of ["", "nonsense", "[]", "{}"]) {
      expectRefusal(service, await deliver(body), { status: 400, code: "invalid_request", message });
    }
    const large = await deliver(" ".repeat(256 * 1024 + 1));
    const errorParts = { status: 413, code: "too_large", message: "The body is over 256 KiB." } as const;
    expectRefusal(service, large, errorParts);
  });

  it("answers 503 while the store is frozen, so that the provider retries", async () => {
    const states = await recipient("later@example.com");
    stage.freeze();
    const answer = await deliver(bounce("later@example.com", "Permanent"));
    stage.thaw();
    expectRefusal(service, answer, { status: 503, code: "unavailable" });
    expect(Number(answer.headers["retry-after"])).toEqual(between(5, 30));
    expect(await states()).toEqual(scheduled);
    expect((await deliver(bounce("later@example.com", "Permanent"))).status).toBe(204);
    expect(await states()).toEqual(stopped);
  });
});

it("POST /hooks/resend without a signing secret answers 400 before it reads the body", async () => {
  const service = await unconfigured();
  const head = "POST /hooks/resend HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n";
  const received = await service.send(`${head}{`);
  expect(received).toMatch(/^HTTP\/1\.1 400 /);
  expect(received).toContain('"code":"invalid_signature"');
  expect(received.toLowerCase()).toContain("\r\nconnection: close\r\n");
});
