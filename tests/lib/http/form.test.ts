import { beforeAll, describe, expect, it, vi } from "vitest";
import { rateLimits } from "@/lib/config/limits";
import { fieldForPage, handleForm } from "@/lib/http/form";
import { forms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";
import { createFolder } from "@/tests/support/leash";

const origin = "https://office.example.com";
const { path } = pages.keepAccount;

beforeAll(() => {
  vi.stubEnv("APP_URL", origin);
  vi.stubEnv("TRUSTED_PROXY_HOPS", "1");
  vi.stubEnv("DATA_DIR", createFolder());
  vi.stubEnv("SIGN_IN", "local");
});

describe("a form that is refused before it is read", () => {
  const { POST } = handleForm(
    forms.keepAccount,
    { page: (call) => `${path}?token=${fieldForPage(call, path, "token")}` },
    async () => ({ to: "/done" }),
  );
  const post = (from: string, referer: string) =>
    POST(
      new Request(origin + forms.keepAccount.path, {
        method: "POST",
        headers: { origin, referer, "x-forwarded-for": from },
        body: new URLSearchParams({ token: "typed" }),
      }),
    );

  it.each([
    [
      "192.0.2.1",
      "leads back to its page, with the token of that page",
      `${origin}${path}?token=shown`,
      "shown",
    ],
    ["192.0.2.2", "takes no token from another of our pages", `${origin}/connect?token=other`, ""],
    ["192.0.2.3", "takes no token from a page elsewhere", `https://evil.example${path}?token=evil`, ""],
    ["192.0.2.4", "takes no token from a page that says nothing", "", ""],
  ])("from %s %s", async (name, _, referer, token) => {
    for (let sent = 0; sent < rateLimits.forms.perClient; sent++)
      expect((await post(name, referer)).headers.get("location")).toBe("/done");
    const { status, headers } = await post(name, referer);
    expect(status).toBe(303);
    expect(headers.get("location")).toMatch(new RegExp(`^/keep-account\\?token=${token}&problem=too-many&`));
  });
});
