import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { handleOperation } from "@/lib/http/handler";
import { type Operation, operations } from "@/lib/http/register/operations";
import { log } from "@/lib/runtime/log";
import { recordResponse } from "@/tests/support/answers";
import { createFolder } from "@/tests/support/leash";

const request = new Request("https://office.example.com/api/site-banner", {
  headers: { "x-request-id": "trace-1" },
});

beforeAll(() => {
  vi.stubEnv("APP_URL", "https://office.example.com");
  vi.stubEnv("DATA_DIR", createFolder());
});
afterEach(() => vi.restoreAllMocks());

describe("a handler", () => {
  it.each([
    ["an Error", new Error("password is hunter2")],
    ["a string", "hunter2"],
    ["undefined", undefined],
  ])(
    "answers %s that a route throws with fixed words, and logs the cause with the request id",
    async (_, thrown) => {
      const logged = vi.spyOn(log(), "error").mockReturnValue();
      const { GET } = handleOperation(operations.siteBanner, {}, () => {
        throw thrown;
      });
      const answer = await GET(request);
      expect(answer.status).toBe(500);
      expect(answer.headers.get("x-request-id")).toBe("trace-1");
      expect(answer.headers.get("cache-control")).toBe("no-store");
      expect(await answer.json()).toEqual({
        error: {
          code: "internal_error",
          message: "Something went wrong on our side.",
          hint: "Try again. If it happens again, report the X-Request-Id of this response.",
          docs: "https://office.example.com/docs/api/errors#internal_error",
        },
      });
      expect(logged).toHaveBeenCalledWith({ err: thrown, requestId: "trace-1" }, "unexpected failure");
    },
  );

  it.each(Object.values<Operation>(operations))("answers so at $path as well", async (operation) => {
    vi.spyOn(log(), "error").mockReturnValue();
    const [method = "GET"] = operation.methods;
    const fail = () => {
      throw new Error("hunter2");
    };
    const handler = handleOperation(operation, { identify: () => undefined }, fail)[method];
    const answer = await handler(new Request(`https://office.example.com${operation.path}`, { method }));
    expect(answer.status).toBe(500);
    expect(await answer.clone().text()).not.toContain("hunter2");
    await recordResponse(method, operation.path, answer);
  });

  it("says on every answer that it is for HTTPS only, where our address is https", async () => {
    const { GET } = handleOperation(operations.siteBanner, {}, () => ({
      status: 200,
      body: { banner: null },
    }));
    const { headers } = await GET(request);
    expect(headers.get("strict-transport-security")).toBe("max-age=31536000");
  });
});
