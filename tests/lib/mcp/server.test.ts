import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { mcpEndpoint } from "@/lib/mcp/handler";
import { prompts } from "@/lib/mcp/prompts";
import { resources } from "@/lib/mcp/resources";
import { tools } from "@/lib/mcp/tools";
import { log } from "@/lib/runtime/log";
import { createFolder } from "@/tests/support/leash";

beforeAll(() => {
  vi.stubEnv("APP_URL", "https://office.example.com");
  vi.stubEnv("DATA_DIR", createFolder());
  vi.stubEnv("SIGN_IN", "none");
});
afterEach(() => vi.restoreAllMocks());

const cause = new Error("password is hunter2");
const fail = () => {
  throw cause;
};

function ask(method: string, params: object) {
  const headers = {
    host: "office.example.com",
    "content-type": "application/json",
    "x-request-id": "trace-1",
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  return mcpEndpoint("/mcp").POST(
    new Request("https://office.example.com/mcp", { method: "POST", headers, body }),
  );
}

describe("an unexpected failure", () => {
  it("in a tool is an isError with a fixed message, and the log has its cause and the request id", async () => {
    const logged = vi.spyOn(log(), "error").mockReturnValue();
    const tool = tools.find(({ name }) => name === "get_health");
    vi.spyOn(tool ?? { run: fail }, "run").mockImplementation(fail);
    const answer = await ask("tools/call", { name: "get_health" });
    expect(answer.status).toBe(200);
    const { result } = await answer.json();
    expect(result.isError).toBe(true);
    expect(JSON.parse(result.content[0].text)).toEqual({
      error: {
        code: "internal_error",
        message: "Something went wrong on our side.",
        hint: "Try again. If it happens again, report the X-Request-Id of this response.",
        docs: "https://office.example.com/docs/api/errors#internal_error",
      },
    });
    expect(logged).toHaveBeenCalledWith({ err: cause, requestId: "trace-1" }, "unexpected failure");
  });

  it("includes a tool result that does not match its schema", async () => {
    const logged = vi.spyOn(log(), "error").mockReturnValue();
    const tool = tools.find(({ name }) => name === "get_health");
    vi.spyOn(tool ?? { run: fail }, "run").mockReturnValue({ ok: true, secret: "hunter2" });
    const text = await (await ask("tools/call", { name: "get_health" })).text();
    expect(text).toContain("internal_error");
    expect(text).not.toContain("secret");
    expect(logged).toHaveBeenCalledTimes(1);
  });

  it("in a resource is -32603 with a fixed message", async () => {
    const logged = vi.spyOn(log(), "error").mockReturnValue();
    const resource = resources.find(({ name }) => name === "limits");
    // Listing the resources caches their sizes.
    await ask("resources/list", {});
    vi.spyOn(resource ?? { read: fail }, "read").mockImplementation(fail);
    const answer = await ask("resources/read", { uri: "corner-office://limits" });
    expect(await answer.json()).toEqual({
      jsonrpc: "2.0",
      id: 1,
      error: { code: -32603, message: "Something went wrong on our side." },
    });
    expect(logged).toHaveBeenCalledWith({ err: cause, requestId: "trace-1" }, "unexpected failure");
  });

  it("in creating the server is 500 with a fixed message", async () => {
    const logged = vi.spyOn(log(), "error").mockReturnValue();
    vi.spyOn(prompts as unknown as { [Symbol.iterator]: () => never }, Symbol.iterator).mockImplementation(
      fail,
    );
    const answer = await ask("tools/list", {});
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain("hunter2");
    expect(logged).toHaveBeenCalledWith({ err: cause, requestId: "trace-1" }, "unexpected failure");
  });
});
