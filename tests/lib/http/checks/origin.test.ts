import { expect, it } from "vitest";
import type { Call } from "@/lib/http/call";
import { requireOwnOrigin } from "@/lib/http/checks/origin";

const url = "https://office.example.com";
const post = (sent: Record<string, string>) => () =>
  requireOwnOrigin({ site: { url } as Call["site"], headers: new Headers(sent) });

// A proxy that adds `Referrer-Policy: no-referrer` makes it `null`: rajnandan1/kener#570, rails/rails#28299.
it.each([
  { origin: url },
  { origin: "null", "sec-fetch-site": "same-origin" },
  { "sec-fetch-site": "same-origin" },
])("takes a form of our own page, sent with %j", (sent) => {
  expect(post(sent)).not.toThrow();
});

it.each([
  {},
  { origin: "null" },
  { origin: "null", "sec-fetch-site": "same-site" },
  { origin: "null", "sec-fetch-site": "cross-site" }, // a sandboxed frame
  { "sec-fetch-site": "none" },
  { origin: "https://evil.example", "sec-fetch-site": "same-origin" },
])("refuses one that may be another site's, sent with %j", (sent) => {
  expect(post(sent)).toThrow(`Open this form at ${url} instead.`);
});
