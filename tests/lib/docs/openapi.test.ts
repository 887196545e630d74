import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Spectral } from "@stoplight/spectral-core";
import owasp from "@stoplight/spectral-owasp-ruleset";
import { oas } from "@stoplight/spectral-rulesets";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { changes } from "@/lib/docs/changes";
import { openApiDocument } from "@/lib/docs/openapi";
import { type Operation, operations } from "@/lib/http/operations";

// Linters reject example.com as a placeholder.
beforeAll(() => vi.stubEnv("APP_URL", "https://corner-office.test"));

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

describe("the API description", () => {
  it("passes Redocly's recommended rules, which check examples against schemas", async () => {
    const config = await createConfig({ extends: ["recommended"] });
    const problems = await lintFromString({ source: JSON.stringify(openApiDocument()), config });
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual(
      [],
    );
  });

  it("passes Spectral's OpenAPI and OWASP rules, except for the explained warnings", async () => {
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

  it("has every operation, and an example of every status and code of each", () => {
    const { paths, info, openapi } = openApiDocument();
    expect(openapi).toMatch(/^3\.1\./);
    expect(info.version).toBe(changes[0].version);
    expect(Object.keys(paths)).toEqual(Object.values(operations).map(({ path }) => path));
    for (const { path, methods, codes } of Object.values<Operation>(operations)) {
      const described = paths[path]?.[methods[0]?.toLowerCase() ?? ""] as Described;
      for (const [status, names] of Object.entries(codes)) {
        const { content } = described.responses[status] ?? {};
        const examples = Object.values(content?.["application/json"]?.examples ?? {});
        expect(examples.map(({ value }) => value.error.code)).toEqual(names);
      }
      expect(Object.keys(described.responses)).toEqual(expect.arrayContaining(["200", "408", "431"]));
    }
  });

  it("has an example of every header that matches its pattern", () => {
    const { paths } = openApiDocument();
    for (const operation of Object.values(paths).flatMap((item) => Object.values(item))) {
      for (const { headers = {} } of Object.values((operation as Described).responses ?? {})) {
        for (const { example, schema } of Object.values(headers)) {
          expect(example).toMatch(new RegExp(schema.pattern));
        }
      }
    }
  });

  it("has no header parameter that the preflight of a cross-origin operation does not let through", () => {
    const { paths, components } = openApiDocument();
    const named = Object.values(components.parameters).filter((parameter) => parameter.in === "header");
    for (const { path, anyOrigin } of Object.values<Operation>(operations)) {
      if (!anyOrigin) continue;
      const described = JSON.stringify(paths[path]);
      const sent = named.filter((_, at) =>
        described.includes(`#/components/parameters/${Object.keys(components.parameters)[at]}`),
      );
      expect(sent.map(({ name }) => name).join(", "), path).toBe(anyOrigin.sends);
    }
  });

  it("leaves every schema open, so that fields can be added", () => {
    expect(JSON.stringify(openApiDocument())).not.toContain("additionalProperties");
  });
});

type Described = {
  responses: Record<
    string,
    {
      headers?: Record<string, { example: string; schema: { pattern: string } }>;
      content?: Record<string, { examples: Record<string, { value: { error: { code: string } } }> }>;
    }
  >;
};
