import { describe, expect, it } from "vitest";
import { startService, startStage } from "@/tests/support/block";
import { expectQuotaSpent } from "@/tests/support/contract";
import { everyEngine } from "@/tests/support/engines";
import { postLegacy, postModern } from "@/tests/support/mcp";

/* Hosted agents: many owners behind one address. */

const requests = 60;

describe.each(everyEngine)("inside HOSTED_AGENT_NETWORKS, on $name", async (engine) => {
  const owners = ["one@example.com", "two@example.com"];
  const tokens: string[] = [];
  const stage = await startStage(engine);
  const service = await startService({
    ...stage.environment,
    HOSTED_AGENT_NETWORKS: "127.0.9.0/24, 2001:db8::/32",
  });
  for (const email of owners) {
    await service.adminJson("account", "add", email, "--plan", "licensed", "--credits", "3");
    tokens.push(await service.token(email));
  }

  const read = { method: "tools/call", params: { name: "get_credits_balance", arguments: {} } };
  const bearer = (token = "") => ({ Authorization: `Bearer ${token}` });

  it("an MCP request with a valid token counts for its account, at every address and path", async () => {
    const remaining: number[] = [];
    for (let n = 0; n < requests; n++) {
      const path = n % 2 ? "/mcp" : "/mcp/account";
      const from = `127.0.9.${1 + (n % 3)}`;
      const { status, headers } = await postModern(service, read, { from, path, headers: bearer(tokens[0]) });
      expect(status).toBe(200);
      remaining.push(Number(headers["ratelimit-remaining"]));
    }
    expect(remaining).toEqual(Array.from({ length: requests }, (_, n) => requests - 1 - n));
    const from = "127.0.9.1";
    const refused = await postModern(service, read, { from, headers: bearer(tokens[0]) });
    expectQuotaSpent(service, refused, "mcp", requests);
    const other = await postModern(service, read, { from, headers: bearer(tokens[1]) });
    expect(other.status, "another owner behind the same address").toBe(200);
    expect(other.headers["ratelimit-remaining"]).toBe("59");
  });

  it("a request without a valid token counts for its address", async () => {
    const from = "127.0.9.7";
    const list = { method: "tools/list" };
    for (const [n, headers] of [{}, bearer("bad"), bearer(`${tokens[1]}x`)].entries()) {
      const answer = await postLegacy(service, list, { from, headers });
      expect(answer.status).toBe(200);
      expect(answer.headers["ratelimit-remaining"]).toBe(String(requests - 1 - n));
    }
    const { sid } = JSON.parse(Buffer.from((tokens[1] ?? "").split(".")[1] ?? "", "base64url").toString());
    await stage.query(`DELETE FROM local_sessions WHERE id = '${sid}'`);
    const ended = await postLegacy(service, list, { from, headers: bearer(tokens[1]) });
    expect(ended.headers["ratelimit-remaining"], "its session has ended").toBe(String(requests - 4));
  });

  it("any other network's requests count for their address, with a token too", async () => {
    const token = await service.token("two@example.com");
    const from = "127.0.10.1";
    const first = await postLegacy(service, { method: "tools/list" }, { from });
    const second = await postLegacy(service, read, { from, headers: bearer(token) });
    expect([first, second].map(({ headers }) => headers["ratelimit-remaining"])).toEqual(["59", "58"]);
  });

  it("says so in the operator's check and in the document of limits", async () => {
    const { stdout } = await service.admin("check");
    expect(stdout).toContain(
      "the address of the socket; inside 127.0.9.0/24, 2001:db8::/32 requests to the MCP server with a valid token count for their account",
    );
    const { text } = await service.ask("/docs/api/limits.md");
    expect(text).toContain("with a valid token counts for its account instead, with the same limit");
  });
});
