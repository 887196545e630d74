import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { routes } from "@/lib/http/register/all-routes";
import { files } from "@/lib/http/register/files";
import { isPage, type Page, pages } from "@/lib/http/register/pages";
import type { Route } from "@/lib/http/route";
import { borrowService } from "@/tests/support/block";
import { expectRefusal } from "@/tests/support/contract";
import { eventually } from "@/tests/support/databases";

const { service } = await borrowService();

const multipart = { "Content-Type": "multipart/form-data; boundary=x" };

const isThere = ({ onlyInDevelopment, onlyWithRegistration, onlyWithScheduler }: Route) =>
  !onlyInDevelopment && !onlyWithRegistration && !onlyWithScheduler;

describe.each(routes.filter(isThere))("$path", ({ path, methods }) => {
  it("answers every method that it does not accept with 405 and Allow", async () => {
    const others = ["GET", "POST", "PUT", "DELETE", "OPTIONS", "PROPFIND"].filter(
      (method) => !methods.includes(method as never),
    );
    for (const method of others) {
      const answer = await service.ask(path, { method });
      expectRefusal(service, answer, { status: 405, code: "method_not_allowed" });
      expect(answer.headers.allow, method).toBe(methods.join(", "));
    }
  });

  it("has no failure of ours for a body that is no multipart", async () => {
    const request = { method: "POST", headers: multipart, body: "--y\r\n" };
    const { status, text } = await service.ask(path, request);
    // Stripe shall come again once billing is set up.
    if (text.includes('"billing_not_configured"')) expect(status).toBe(503);
    else if (methods.includes("POST" as never)) expect(status).toBeLessThan(500);
    else expect(status).toBe(405);
  });
});

describe("a request whose client has left", () => {
  it("is logged as well", async () => {
    for (let n = 0; n < 20; n++) {
      const socket = connect({ host: "127.0.0.1", port: service.port, localAddress: service.from });
      const head = `GET ${pages.search.path}?q=sign HTTP/1.1\r\nHost: x\r\nX-Request-Id: left-${n}\r\n\r\n`;
      socket.write(head, () => socket.destroy());
    }
    await eventually(() => expect(new Set(service.log.match(/"left-\d+"/g)).size).toBe(20));
  });
});

describe("a publication", () => {
  const shown = new Set<string>(Object.values(files).map(({ path }) => path));
  const programs = routes.filter((route) => route.isShared && !isPage(route) && !shown.has(route.path));

  it.each(programs)("displays nothing, whatever a browser takes it for: $path", async ({ path }) => {
    const { headers } = await service.ask(path);
    expect(headers["content-security-policy"]).toBe("default-src 'none'; frame-ancestors 'none'");
    expect(headers["cross-origin-resource-policy"]).toBe("cross-origin");
  });
});

describe("an address that no register has", () => {
  it("answers 404: a page to who looks, JSON to who sends", async () => {
    for (const path of ["/nothing", "/waitlist/x", "/Docs"]) {
      const page = await service.ask(path);
      expect([page.status, page.headers["content-type"]]).toEqual([404, "text/html; charset=utf-8"]);
      for (const method of ["POST", "PUT", "OPTIONS"]) {
        const refused = await service.ask(path, { method, headers: multipart });
        expectRefusal(service, refused, { status: 404, code: "not_found" });
        expect(refused.headers).not.toHaveProperty("allow");
      }
    }
  });
});

describe("the pages of the register", () => {
  it("are open to anyone, or say that they are not", async () => {
    for (const { path, access } of Object.values<Page>(pages)) {
      const expected = { anyone: [200, 303, 404], session: [303], "signed link": [200, 400] }[access];
      expect(expected, path).toContain((await service.ask(path)).status);
    }
  });
});
