import { beforeEach, describe, expect, it, vi } from "vitest";
import { wide } from "@/app/(pages)/html-page";
import { GET as checkHealth } from "@/app/api/health/route";
import { rateLimits, turnBounds } from "@/lib/config/limits";
import { StoreOutage } from "@/lib/db/store-outage";
import { Call, sourceOf } from "@/lib/http/call";
import { handlePage } from "@/lib/http/page";
import { pages } from "@/lib/http/register/pages";
import { publicSite } from "@/lib/http/router";
import { createFolder } from "@/tests/support/leash";

const origin = "https://office.example.com";
const page = () => ({ status: 200, body: "a page" });

beforeEach(() => {
  vi.stubEnv("APP_URL", origin);
  vi.stubEnv("TRUSTED_PROXY_HOPS", "1");
  vi.stubEnv("DATA_DIR", createFolder());
  vi.stubEnv("SIGN_IN", "local");
});

const render = vi.fn(async () => page());
const handler = handlePage(pages.invitation, wide, render);
const { GET: show } = handler;
const ask = (from: string, accept = "*/*", signal?: AbortSignal) => {
  const headers = { "X-Forwarded-For": from, Accept: accept };
  return show(new Request(`${origin}/invitation`, { headers, ...(signal && { signal }) }));
};

/** Renders pages that end when the returned function is called. */
function hold(): () => void {
  const held = Promise.withResolvers<void>();
  render.mockClear();
  render.mockImplementation(() => held.promise.then(page));
  return () => {
    render.mockImplementation(async () => page());
    held.resolve();
  };
}

describe("a page that is rendered for each request", () => {
  it("is a 429 when an address has used up its limit", async () => {
    for (let asked = 0; asked < rateLimits.pages.perClient; asked++)
      expect((await ask("192.0.2.2")).status).toBe(200);
    const refused = await ask("192.0.2.2");
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(refused.headers.get("cache-control")).toBe("no-store");
    expect((await ask("192.0.2.3")).status).toBe(200);
  });

  it.each([
    ["192.0.2.6", false, "nothing was changed. Reload this page in a moment."],
    ["192.0.2.7", true, "we cannot tell whether it was done. Look whether it was before you do it again."],
  ])(
    "promises nothing of a commit that was not answered: from %s, unknown: %s",
    async (from, isUnknown, said) => {
      render.mockImplementationOnce(() => Promise.reject(new StoreOutage(new Error("away"), isUnknown)));
      const answer = await ask(from, "text/html");
      expect([answer.status, Number(answer.headers.get("retry-after")) > 0]).toEqual([503, true]);
      const text = await answer.text();
      expect(text).toContain(said);
      expect(text.includes("nothing was changed")).toBe(!isUnknown);
    },
  );

  it.each([
    ["192.0.2.4", "an ApiError for a program", "*/*", '"code":"unavailable"'],
    ["192.0.2.5", "a page that reloads itself for a browser", "text/html,*/*;q=0.8", 'refresh" content="2">'],
  ])("waits for its turn; beyond what may wait, %s gets %s", async (from, _, accept, said) => {
    const end = hold();
    const { atOnceOfNetwork, waiting } = turnBounds.pages;
    const kept = Array.from({ length: atOnceOfNetwork + waiting }, () => ask(from, accept));
    const refused = await ask(from, accept);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "2"]);
    expect(await refused.text()).toContain(said);
    expect(render).toHaveBeenCalledTimes(atOnceOfNetwork);
    end();
    expect(new Set((await Promise.all(kept)).map(({ status }) => status))).toEqual(new Set([200]));
  });

  it("is not rendered for a client that goes away before its turn", async () => {
    const end = hold();
    const leaving = new AbortController();
    const all = Array.from({ length: 4 }, () => ask("192.0.2.6", "*/*", leaving.signal));
    await vi.waitFor(() => expect(render).toHaveBeenCalledTimes(2));
    leaving.abort();
    end();
    expect((await Promise.all(all)).map(({ status }) => status)).toEqual([200, 200, 499, 499]);
    expect(render).toHaveBeenCalledTimes(2);
  });

  it("waits for no one where it is rendered to be kept for everyone, and no operation waits for it", async () => {
    const end = hold();
    const asked = ["192.0.2.7", "192.0.2.8"].flatMap((from) => [ask(from), ask(from)]);
    const { atOnceOfKnown } = turnBounds.pages;
    await vi.waitFor(() => expect(render).toHaveBeenCalledTimes(atOnceOfKnown));
    const own = handler(new Call(sourceOf("GET", "/invitation"), publicSite, true));
    await vi.waitFor(() => expect(render).toHaveBeenCalledTimes(atOnceOfKnown + 1));
    expect((await checkHealth(new Request(`${origin}/api/health`))).status).toBe(200);
    end();
    await Promise.all([...asked, own]);
  });
});
