import { Spectral } from "@stoplight/spectral-core";
import owasp from "@stoplight/spectral-owasp-ruleset";
import { oas } from "@stoplight/spectral-rulesets";
import { expect, it, vi } from "vitest";
import { openApiDocument } from "@/lib/docs/openapi";

// Linters reject example.com as a placeholder.
vi.stubEnv("APP_URL", "https://corner-office.test");

const openToAnyone = "The specification says that it needs no sign-in.";
const onlyHealthIsCounted = "Only health has a quota: other operations have no quota headers and no 429.";
const ourOwnText = "Texts that we send: a bound would limit our wording without helping a client.";

/** The warnings of Spectral that we accept, with the reason. An unused entry fails. */
const explained: { rule: string; at: RegExp; why: string }[] = [
  {
    rule: "owasp:api4:2023-rate-limit",
    at: /^paths\..*\.responses\.\d+\.headers$/,
    why: onlyHealthIsCounted,
  },
  {
    rule: "owasp:api4:2023-rate-limit-responses-429",
    at: /^paths\.(?!\/api\/health)/,
    why: onlyHealthIsCounted,
  },
  { rule: "owasp:api4:2023-string-limit", at: /responses|schemas/, why: ourOwnText },
  { rule: "owasp:api4:2023-string-restricted", at: /responses|schemas/, why: ourOwnText },
  {
    rule: "owasp:api4:2023-string-restricted",
    at: /^paths\.\/api\/email\/unsubscribe\.post\.parameters\.2\.schema$/,
    why: "The token is opaque and is used exactly as sent.",
  },
  {
    rule: "owasp:api8:2023-define-cors-origin",
    at: /responses\.\w+\.headers$/,
    why: "Only the banner may be read by other origins, an account must not.",
  },
  { rule: "owasp:api2:2023-read-restricted", at: /health|site-banner/, why: openToAnyone },
  {
    rule: "owasp:api2:2023-write-restricted",
    at: /unsubscribe/,
    why: "The signed token protects it (RFC 8058).",
  },
  {
    rule: "owasp:api2:2023-no-credentials-in-url",
    at: /unsubscribe/,
    why: "RFC 8058 puts it into the link.",
  },
  {
    rule: "owasp:api8:2023-define-error-responses-401",
    at: /health|site-banner|unsubscribe/,
    why: openToAnyone,
  },
];

it("the API description passes Spectral's OpenAPI and OWASP rules, except for the explained warnings", async () => {
  const spectral = new Spectral();
  spectral.setRuleset({ extends: [oas, owasp] } as Parameters<typeof spectral.setRuleset>[0]);
  const used = new Set<object>();
  const unexplained = (await spectral.run(openApiDocument())).filter(({ code, path }) => {
    const route = path.join(".");
    const explanation = explained.find(({ rule, at }) => rule === code && at.test(route));
    if (explanation) used.add(explanation);
    return !explanation;
  });
  expect(unexplained.map(({ code, path, message }) => [code, path.join("."), message])).toEqual([]);
  expect(explained.filter((line) => !used.has(line))).toEqual([]);
});
