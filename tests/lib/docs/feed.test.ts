import { expect, it } from "vitest";
import { writeFeed } from "@/lib/docs/feed";

it("a feed has its entries newest first, each in a second of its own, whatever else began or ended in it", () => {
  const entry = (anchor: string, updated: string) => ({ anchor, title: anchor, updated, text: "" });
  const { body } = writeFeed({
    title: "Status",
    page: "/status",
    self: "/status.atom",
    updated: "1970-01-01T00:00:00Z",
    entries: [
      entry("mcp", "2026-11-20T10:00:00.250Z"),
      entry("accounts", "2026-11-20T10:00:00.250Z"),
      entry("mail", "2026-11-20T10:00:01.900Z"),
      entry("later", "2026-11-20T10:00:07Z"),
    ],
  });
  const entries = [...String(body).matchAll(/<entry>\n<id>[^<]*#([^<]+)<\/id>\n.*\n<updated>([^<]+)</g)];
  expect(entries.map(([, anchor, updated]) => [anchor, updated])).toEqual([
    ["later", "2026-11-20T10:00:07Z"],
    ["mail", "2026-11-20T10:00:02.000Z"],
    ["mcp", "2026-11-20T10:00:01.000Z"],
    ["accounts", "2026-11-20T10:00:00.250Z"],
  ]);
  expect(body).toContain("<updated>2026-11-20T10:00:07Z</updated>\n<author>");
});
