import { describe, expect, it } from "vitest";
import { readAnswers } from "@/tests/support/answers";
import { describedByBackend, signatureOf } from "@/tests/support/backend-description";
import { description, faultsOf, resolve, signaturesOf } from "@/tests/support/description";

/*
 * The last step of `npm test`: every answer that the tests received, against the API description. A single file
 * run alone records nothing, and nothing is checked.
 */

/** What no test causes at the backend API, or at one of its addresses alone, which all have it from the same place. */
const unseenOfBackend = [
  / 429 unavailable$/, // ten thousand requests a second
  / 500 internal_error$/, // a mistake of ours
  /^(?!\/v1\/accounts\/\{id\}\/spends).* 503 unavailable$/, // the store is away
];

const file = process.env.RECORDED_ANSWERS;

describe.runIf(file)("every answer that the tests received", () => {
  const all = file ? readAnswers(file) : [];
  const answers = all.filter(({ from }) => from === undefined);

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

  it("leaves none that the description of the backend API has", () => {
    const seen = new Set(all.filter(({ from }) => from === "the backend API").map(signatureOf));
    const unseen = describedByBackend.filter((signature) => !seen.has(signature));
    expect(unseen.filter((signature) => !unseenOfBackend.some((pattern) => pattern.test(signature)))).toEqual(
      [],
    );
  });
});
