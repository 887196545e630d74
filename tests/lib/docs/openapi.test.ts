import { createConfig, lintFromString } from "@redocly/openapi-core";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { changes } from "@/lib/docs/changes";
import { openApiDocument } from "@/lib/docs/openapi";
import { type Operation, operations } from "@/lib/http/register/operations";

// Linters reject example.com as a placeholder.
beforeAll(() => vi.stubEnv("APP_URL", "https://corner-office.test"));

describe("the API description", () => {
  it("passes Redocly's recommended rules, which check examples against schemas", async () => {
    const config = await createConfig({ extends: ["recommended"] });
    const problems = await lintFromString({ source: JSON.stringify(openApiDocument()), config });
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual(
      [],
    );
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
      expect(Object.keys(described.responses)).toEqual(expect.arrayContaining(["200", "408", "429", "431"]));
    }
  });

  it("promises the quota's headers with what is counted, and not with a 429, which may come before", () => {
    type Promised = { responses: Record<string, { headers: Record<string, { required: boolean }> }> };
    const { responses } = (openApiDocument().paths["/api/health"]?.get ?? expect.fail()) as Promised;
    for (const name of ["RateLimit-Policy", "RateLimit", "RateLimit-Limit", "RateLimit-Remaining"])
      expect(["200", "429"].map((status) => responses[status]?.headers[name]?.required)).toEqual([
        true,
        false,
      ]);
  });

  it("says of a path only its operation, because generators take all else for methods", () => {
    const { paths } = openApiDocument();
    for (const { path, methods } of Object.values<Operation>(operations)) {
      expect(Object.keys(paths[path] ?? {})).toEqual([methods[0]?.toLowerCase()]);
    }
  });

  it("says of an operation no more than ChatGPT's actions take", () => {
    for (const methods of Object.values(openApiDocument().paths))
      for (const { description, summary } of Object.values(methods)) {
        expect(summary).toMatch(/^.{10,300}$/);
        expect(description).toMatch(/^[^[\n]{40,300}$/);
      }
  });

  it("says of an entitlement that is denied why it is, as its answer does", () => {
    const described = openApiDocument().paths[operations.entitlement.path]?.get as Described;
    const denials = Object.entries(described.responses).filter(([, response]) =>
      JSON.stringify(response).includes("EntitlementDenied"),
    );
    expect(denials.map(([status]) => status)).toEqual(["401", "403", "503"]);
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
    expect(JSON.stringify(openApiDocument())).not.toContain('"additionalProperties":false');
  });

  it("says what the values of a map are, which a generator needs", () => {
    const { EntitlementAllowed } = openApiDocument().components.schemas as Record<string, object>;
    expect(EntitlementAllowed).toMatchObject({
      properties: {
        limits: {
          type: "object",
          additionalProperties: { type: ["integer", "null"], minimum: 0 },
        },
      },
    });
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
