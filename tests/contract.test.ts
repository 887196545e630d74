import { describe, expect, it } from "vitest";
import { readAnswers } from "@/tests/support/answers";
import { description, faultsOf, resolve, signaturesOf } from "@/tests/support/description";

/*
 * The last step of `npm test`: every answer that the tests received, against the API description. A single file
 * run alone records nothing, and nothing is checked.
 */

const file = process.env.RECORDED_ANSWERS;

describe.runIf(file)("every answer that the tests received", () => {
  const answers = file ? readAnswers(file) : [];

  it("is one that the description has: its status, its headers and its body", () => {
    expect(answers.length).toBeGreaterThan(500);
    const faults = answers.flatMap((answer) =>
      faultsOf(answer).map((fault) => `${answer.method} ${answer.path} ${answer.status}: ${fault}`),
    );
    expect([...new Set(faults)]).toEqual([]);
  });

  it("leaves none that is described and was never given", () => {
    const seen = new Set(answers.flatMap((answer) => signaturesOf(answer)));
    const described = Object.entries(description.paths).flatMap(([path, { get, post }]) =>
      Object.entries((get ?? post)?.responses ?? {}).flatMap(([status, answer]) => {
        // It is enough to see once what the description says once for all operations.
        const route = "$ref" in answer ? "any" : path;
        const [content] = Object.values(resolve(answer).content);
        return Object.keys(content?.examples ?? {}).map((code) => `${route} ${status} ${code}`);
      }),
    );
    expect(described.filter((signature) => !seen.has(signature))).toEqual([]);
  });
});
