import { expect, it } from "vitest";
import { mcp } from "@/lib/docs/documents/mcp";
import { knownClients } from "@/lib/docs/mcp-clients";
import { mcpServer } from "@/lib/http/register/mcp";
import { clients } from "@/tests/clients/clients";
import { vendors } from "@/tests/clients/connector";

it("the document of MCP lists the clients that are tried, each with its address and version, and which are not", () => {
  const path = mcpServer.accountPath;
  const wanted = [
    ...clients.map(({ name, path, packages: [main] }) => {
      return { name, path, tried: main.replace(/^.*@/, "version ") };
    }),
    ...vendors.map(({ name }) => ({
      name,
      path,
      tried: "with our own program, which connects as its documents say, not in the app itself",
    })),
    ...["Cursor", "VS Code"].map((name) => ({
      name,
      path,
      tried: "not by us; these steps follow its documents",
    })),
  ];
  expect(knownClients).toEqual(expect.arrayContaining(wanted));
  expect(knownClients).toHaveLength(wanted.length);
  for (const { name, path, tried } of wanted)
    expect(mcp.markdown()).toContain(`| ${name} | \`${path}\` | ${tried} |`);
});
