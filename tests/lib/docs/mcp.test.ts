import { describe, expect, it } from "vitest";
import { mcp } from "@/lib/docs/documents/mcp";
import { placeholderAddress } from "@/lib/docs/markdown";
import { clients } from "@/tests/clients/clients";

describe("the document of MCP", () => {
  const rows = mcp
    .markdown()
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.replaceAll("`", "").trim()));

  it.each(["/mcp", "/mcp/account"])("names the clients that are tried with %s, and no other", (path) => {
    const named = rows.find(([, address]) => address === placeholderAddress + path)?.[3]?.split(", ");
    expect(named?.sort()).toEqual(
      clients
        .filter((client) => client.path === path)
        .map(({ name }) => name)
        .sort(),
    );
  });
});
