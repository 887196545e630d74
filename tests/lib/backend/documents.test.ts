import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { describe, expect, it } from "vitest";
import { backendRoutes } from "@/lib/backend/addresses";
import { refusals } from "@/lib/backend/refusals";
import { BackendCaller, withBackendApi } from "@/tests/support/backend-caller";
import { startService } from "@/tests/support/block";

describe("the documents of the backend API", async () => {
  const service = await startService(await withBackendApi({ SIGN_IN: "local" }));
  const worker = await BackendCaller.add(service, "worker");
  const read = (path: string, accept = "*/*") => worker.send(path, { headers: { accept } });

  it("are a page for people and Markdown for programs, with a section for each code", async () => {
    const page = await read("/docs", "text/html");
    expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
    const markdown = await read("/docs");
    expect(markdown.headers["content-type"]).toBe("text/markdown; charset=utf-8");
    for (const code of Object.keys(refusals)) expect(page.text).toContain(`id="${code}"`);
    for (const { path } of Object.values(backendRoutes)) expect(markdown.text).toContain(path);
    expect((await service.ask("/docs")).text).not.toContain("insufficient_credits");
  });

  it("have a program that spends, holds and settles as it is printed", async () => {
    await service.adminJson("account", "add", "ceo@example.com", "--credits", "5");
    const { text } = await read("/docs");
    const [, program = ""] = /```ts\n(.*?)```/s.exec(text) ?? [];
    const pem = worker.privateKey.export({ type: "pkcs8", format: "pem" });
    writeFileSync(join(service.dataDir, "worker.pem"), pem);
    writeFileSync(join(service.dataDir, "program.mjs"), program);
    const { stdout } = await promisify(execFile)("node", ["program.mjs"], { cwd: service.dataDir });
    expect(stdout).toContain("balance: 4.875");
    expect(stdout).toContain("balance: 4.475");
  });

  it("have a description of every address that a linter accepts", async () => {
    const { text } = await read("/openapi.json");
    const config = await createConfig({
      extends: ["recommended"],
      rules: { "operation-4xx-response": "off", "no-server-example.com": "off" },
    });
    expect(await lintFromString({ source: text, config })).toEqual([]);
    const { paths } = JSON.parse(text);
    expect(Object.keys(paths)).toEqual(Object.values(backendRoutes).map(({ path }) => path));
    const { schema } = paths["/v1/accounts/{id}/spends"].post.requestBody.content["application/json"];
    expect(schema.required).toEqual(["credits", "reason"]);
    expect(schema.properties.credits.type).toEqual(["string", "number"]);
  });
});
