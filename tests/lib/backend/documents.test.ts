import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { describe, expect, it } from "vitest";
import { backendRoutes, clientRoutes, clientVersion } from "@/lib/backend/addresses";
import { allRefusals } from "@/lib/backend/refusals";
import { BackendCaller, withBackendApi } from "@/tests/support/backend-caller";
import { startService } from "@/tests/support/block";
import { createFolder } from "@/tests/support/leash";
import { blocksOf } from "@/tests/support/printed-lines";

describe("the documents of the backend API", async () => {
  const service = await startService(await withBackendApi({ SIGN_IN: "local" }));
  const worker = await BackendCaller.add(service, "worker");
  const read = (path: string, accept = "*/*") => worker.send(path, { headers: { accept } });

  it("are a page for people and Markdown for programs, with a section for each code", async () => {
    const page = await read("/docs", "text/html");
    expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
    const markdown = await read("/docs");
    expect(markdown.headers["content-type"]).toBe("text/markdown; charset=utf-8");
    for (const code of Object.keys(allRefusals)) expect(page.text).toContain(`id="${code}"`);
    for (const { path } of Object.values(backendRoutes)) expect(markdown.text).toContain(path);
    expect((await service.ask("/docs")).text).not.toContain("insufficient_credits");
  });

  it("have a client file, and programs that spend, hold, settle, repeat and list with it as they are printed", async () => {
    await service.adminJson("account", "add", "licensed@example.com", "--plan", "licensed", "--credits", "5");
    const file = await read(clientRoutes.typescript.path);
    expect(file.headers).toMatchObject({
      "content-type": "text/plain; charset=utf-8",
      "content-disposition": 'attachment; filename="corner-office-backend.ts"',
      "cache-control": "public, max-age=31536000",
    });
    expect(file.text).toContain(`// Corner Office backend client ${clientVersion},`);
    expect(await read("/docs/1.3.0/corner-office-backend.ts")).toMatchObject({
      status: 302,
      headers: { location: clientRoutes.typescript.path },
    });
    const { text } = await read("/docs");
    const programOf = (heading: string) =>
      blocksOf(text, heading).find(({ language }) => language === "ts")?.text ?? "";
    const [setUp = ""] = programOf("Start").split("for await");
    const pem = worker.privateKey.export({ type: "pkcs8", format: "pem" });
    const folder = createFolder();
    for (const [name, content] of Object.entries({
      "corner-office-backend.ts": file.text,
      "worker.pem": pem,
      "spend.ts": programOf("Start"),
      "more.ts": setUp + programOf("The client files"),
    }))
      writeFileSync(join(folder, name), content);
    const env = { PATH: process.env.PATH, CORNER_OFFICE_TOKEN: await service.token("licensed@example.com") };
    const run = async (program: string) =>
      (
        await promisify(execFile)("node", [program], {
          cwd: folder,
          env: env as unknown as NodeJS.ProcessEnv,
        })
      ).stdout;
    expect(await run("spend.ts")).toBe(
      "spent 0.125 of 5, 4.875 are left\n1 is held, 3.875 can be spent\nsettled, 4.475 are left\n",
    );
    expect((await run("more.ts")).split("\n")).toEqual([
      expect.stringMatching(/^[\w-]{36}$/),
      expect.stringMatching(/^[\w-]{36}$/),
      "trial without a limit",
      "hobby without a limit",
      "licensed without a limit",
      "2.85",
      "",
    ]);
  });

  it("have a description of every address that a linter accepts", async () => {
    const { text } = await read("/openapi.json");
    const config = await createConfig({
      extends: ["recommended"],
      rules: { "operation-4xx-response": "off", "no-server-example.com": "off" },
    });
    expect(await lintFromString({ source: text, config })).toEqual([]);
    const { paths, components } = JSON.parse(text);
    expect(Object.keys(paths)).toEqual(Object.values(backendRoutes).map(({ path }) => path));
    const { content } = paths["/v1/accounts/{id}/spends"].post.requestBody;
    expect(content).toEqual({
      "application/json": { schema: { $ref: "#/components/schemas/SpendsRequest" } },
    });
    const schema = components.schemas.SpendsRequest;
    expect(schema.required).toEqual(["credits", "reason"]);
    // One type, and null as another one: generators make nothing or an error of the rest.
    expect(schema.properties.credits.type).toBe("string");
    expect(text).not.toMatch(/"anyOf":\[\{(?!"\$ref")/);
    // What a generator makes an int of 32 bits has bounds that fit it.
    const integers = [...text.matchAll(/\{[^{}]*"type":"integer"[^{}]*\}/g)].map(([one]) => JSON.parse(one));
    expect(integers.filter(({ format, maximum }) => format !== "int64" && !(maximum < 2 ** 31))).toEqual([]);
  });
});
