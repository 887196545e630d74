import { describe, expect, it } from "vitest";
import { mcp } from "@/lib/docs/documents/mcp";
import { knownClients } from "@/lib/docs/mcp-clients";
import { mcpServer } from "@/lib/http/operations";
import { clients } from "@/tests/clients/clients";
import { vendors } from "@/tests/clients/connector";

describe("the document of MCP", () => {
  const rows = mcp
    .markdown()
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.replaceAll("`", "").trim()));
  const trials = knownClients.map(({ name }) => {
    const [, client, path, tried] = rows.find((row) => row[1] === name && row.length === 5) ?? [];
    return { client, path, tried };
  });

  it("lists the clients that are tried, each with its address and version, and no other", () => {
    const tried = trials.filter((trial) => trial.tried?.startsWith("version "));
    const wanted = clients.map(({ name, path, packages: [main] }) => {
      return { client: name, path, tried: main.replace(/^.*@/, "version ") };
    });
    expect(tried).toEqual(expect.arrayContaining(wanted));
    expect(tried).toHaveLength(wanted.length);
  });

  it("says which clients are tried by their documents alone, and which not at all", () => {
    const path = mcpServer.accountPath;
    expect(trials.filter((trial) => !trial.tried?.startsWith("version "))).toEqual([
      ...vendors.map(({ name }) => ({ client: name, path, tried: "a program that follows its documents" })),
      ...["Cursor", "VS Code"].map((client) => {
        return { client, path, tried: "not by us: set up as its documents say" };
      }),
    ]);
  });
});
