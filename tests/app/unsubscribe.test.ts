import { describe, expect, it } from "vitest";
import { borrowService } from "@/tests/support/block";
import { expectRefusal } from "@/tests/support/contract";
import { eventually } from "@/tests/support/databases";
import { laterStates } from "@/tests/support/due-mails";
import { engines } from "@/tests/support/engines";
import { supportEmail } from "@/tests/support/lent-service";

describe.each(engines)("the page /unsubscribe on $name", async (engine) => {
  const { stage, service } = await borrowService(engine);
  let number = 0;

  async function recipient() {
    const email = `reader${++number}@example.com`;
    await service.adminJson("account", "add", email);
    const target = (await service.unsubscribePath(email)).replace("/api/email", "");
    return { target, states: () => laterStates(stage, email), email };
  }

  /** The POST of a browser from the page's own form. */
  const press = (target: string, headers = {}) =>
    service.ask(target, {
      method: "POST",
      body: "",
      headers: { "Content-Type": "application/x-www-form-urlencoded", ...headers },
    });
  const titleOf = (html: string) => /<h1>([^<]*)<\/h1>/.exec(html)?.[1];
  const scheduled = ["scheduled"];
  const stopped = ["stopped"];

  it("is named by the address for mail clients, when a person opens that", async () => {
    const { target, states } = await recipient();
    const token = new URLSearchParams(target.split("?")[1]).get("token") ?? "";
    const refused = await service.ask(target.replace("/unsubscribe", "/api/email/unsubscribe"));
    expectRefusal(service, refused, {
      status: 405,
      code: "method_not_allowed",
      hint: `Use one of the methods in the Allow header. A person opens ${service.url}/unsubscribe instead, with the same query.`,
    });
    expect(refused.headers.allow).toBe("POST, OPTIONS");
    expect(refused.text + JSON.stringify(refused.headers)).not.toContain(token);
    expect(await states()).toEqual(scheduled);
  });

  it("says what will stop, and changes nothing however often a link scanner looks", async () => {
    const { target, states } = await recipient();
    for (const method of ["GET", "HEAD", "GET"]) {
      const page = await service.ask(target, { method });
      expect(page.status).toBe(200);
      expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
      expect(page.headers["referrer-policy"]).toBe("no-referrer");
      expect(page.headers["cache-control"]).toBe("no-store, no-transform");
      if (method === "HEAD") continue;
      expect(titleOf(page.text)).toBe("Stop the onboarding emails?");
      expect(page.text).toContain("<strong>r•••@example.com</strong>");
      expect(page.text).toContain(
        '<form method="post"><button type="submit">Stop these emails</button></form>',
      );
      expect(page.text, "no script, and no token in the page").not.toMatch(/<script|token|v1\./);
    }
    expect(await states()).toEqual(scheduled);
  });

  it.each([
    ["as a browser sends it under no-referrer", { Origin: "null" }],
    ["from another origin, with cookies", { Origin: "https://mail.example", Cookie: "__session=x" }],
    ["without any of a browser's headers", {}],
  ])("stops the emails when its button is pressed, %s", async (_, headers) => {
    const { target, states } = await recipient();
    for (let n = 0; n < 2; n++) {
      const page = await press(target, headers);
      expect(page.status).toBe(200);
      expect(titleOf(page.text)).toBe("The onboarding emails are stopped");
      expect(page.headers["referrer-policy"]).toBe("no-referrer");
      expect(page.headers).not.toHaveProperty("set-cookie");
    }
    expect(await states()).toEqual(stopped);
  });

  it("says without a button that the emails are already stopped, and which emails go on", async () => {
    const { target } = await recipient();
    const goOn = "<p>Emails about sign-in, security and the state of your account go on.</p>";
    for (const page of [await service.ask(target), await press(target), await service.ask(target)])
      expect(page.text).toContain(goOn);
    const page = await service.ask(target);
    expect(page.status).toBe(200);
    expect(titleOf(page.text)).toBe("The onboarding emails are already stopped");
    expect(page.text).toContain("<strong>r•••@example.com</strong>");
    expect(page.text).not.toContain("<form");
  });

  it("has the button again for an account that was given another address", async () => {
    const { target, email } = await recipient();
    await press(target);
    await stage.query(`UPDATE accounts SET email = 'moved-${email}' WHERE email = '${email}'`);
    expect(titleOf((await service.ask(target)).text)).toBe("Stop the onboarding emails?");
    expect((await press(target)).status).toBe(200);
    expect(titleOf((await service.ask(target)).text)).toBe("The onboarding emails are already stopped");
  });

  it("says that a link is not ours, and how to reach a person: 400, and nothing changes", async () => {
    const { target, states } = await recipient();
    const bad = ["/unsubscribe", "/unsubscribe?token=", `${target}x`, `${target}&token=x`];
    for (const path of bad) {
      for (const page of [await service.ask(path), await press(path)]) {
        expect(page.status).toBe(400);
        expect(titleOf(page.text)).toBe("This link does not work");
        expect(page.text).toContain(`<a href="mailto:${supportEmail}">${supportEmail}</a>`);
        expect(page.text).not.toContain("<form");
      }
    }
    expect(await states()).toEqual(scheduled);
  });

  it("says in words that it is not certain while the store is frozen, and the same button works later", async () => {
    const { target, states } = await recipient();
    stage.freeze();
    const page = await press(target);
    stage.thaw();
    expect(page.status).toBe(502);
    expect(page.headers["retry-after"]).toMatch(/^[1-9]\d?$/);
    expect(titleOf(page.text)).toBe("That did not work yet");
    expect(page.text).toContain('<form method="post"><button type="submit">Try again</button></form>');
    expect(page.text).toContain(`quote reference <code>${page.headers["x-request-id"]}</code>`);
    expect(await states()).toEqual(scheduled);
    expect((await press(target)).status).toBe(200);
    expect(await states()).toEqual(stopped);
    await eventually(() =>
      expect(service.takeErrors()).toEqual(["stopping the later emails failed; some may still be delivered"]),
    );
  });

  it("keeps its button while the store is frozen and the state cannot be read", async () => {
    const { target } = await recipient();
    stage.freeze();
    const page = await service.ask(target);
    stage.thaw();
    expect(page.status).toBe(200);
    expect(titleOf(page.text)).toBe("Stop the onboarding emails?");
    expect(page.text).toContain("<form");
  });
});
