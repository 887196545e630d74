import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, it } from "vitest";
import { forms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";
import { eventually } from "@/tests/support/databases";
import { Service } from "@/tests/support/service";

let service: Service;
afterEach(() => service.stop({ expectErrors: true }));

/** Drops a table, so that the code that needs it fails unexpectedly. */
function dropTable(name: string): void {
  const db = new DatabaseSync(join(service.dataDir, "store.sqlite"), { timeout: 5000 });
  db.exec(`DROP TABLE ${name}`);
  db.close();
}

const linesOf = (requestId: string) =>
  service.log
    .split("\n")
    .filter((line) => line.includes(`"requestId":"${requestId}"`))
    .map((line) => JSON.parse(line));

describe.each([
  ["`npm start`", ["dist/server/main.js"]],
  ["plain `next start`", ["node_modules/next/dist/bin/next", "start"]],
])("a failure outside /api behind %s", (_, program) => {
  it("shows an explanation, is not cached, and is logged once under the answer's own id", async () => {
    service = await Service.start({ SIGN_IN: "local" }, { program });
    await eventually(async () => expect((await service.ask(pages.waitlist.path)).status).toBe(200));
    for (const table of ["waitlist", "sign_in_codes"]) dropTable(table);
    const fields = { email: "reader@example.com" };
    for (const [{ path }, page] of [
      [forms.joinWaitlist, pages.waitlist.path],
      [forms.sendCode, pages.signIn.path],
    ] as const) {
      for (const sent of [undefined, `mine${path.replaceAll("/", ".")}`]) {
        const answer = await service.submit(path, fields, sent ? { headers: { "x-request-id": sent } } : {});
        const reference = answer.headers["x-request-id"];
        const back = `${page}?problem=unavailable&reference=${reference}`;
        expect([answer.status, answer.headers.location]).toEqual([303, back]);
        expect(answer.headers["cache-control"]).toBe("no-store");
        const requestId = String(answer.headers["x-request-id"]);
        if (sent) expect(requestId).toBe(sent);
        await eventually(() => {
          const lines = linesOf(requestId);
          expect(lines.filter(({ level }) => level === "error")).toMatchObject([
            { msg: "unexpected failure" },
          ]);
          expect(lines.filter(({ status }) => status === 303)).toHaveLength(1);
        });
      }
    }
    const { text } = await service.ask(`${pages.waitlist.path}?problem=unavailable`);
    expect(text).toContain("Something went wrong on our side, and nothing was changed.");
  });
});
