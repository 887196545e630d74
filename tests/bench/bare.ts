import type { ChildProcess } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { eventually } from "@/tests/support/databases";
import { spawnLeashed } from "@/tests/support/leash";
import { reservePort } from "@/tests/support/port";
import type { Answer } from "@/tests/support/service";

const folder = "dist/bench";
const ofTheConnection = new Set(["connection", "content-length", "date", "keep-alive", "transfer-encoding"]);

export type Bare = { url: string; child: ChildProcess };

/** The minimum work of `node:http`: one JSON line, with the status and the headers of our response. */
export async function startBareNode({ status, headers }: Pick<Answer, "status" | "headers">): Promise<Bare> {
  const fields = Object.entries(headers).filter(
    ([name]) => !ofTheConnection.has(name) && name !== "content-encoding",
  );
  const source = `import { createServer } from "node:http";
    const body = '{"ok":true,"service":"corner-office-web","surface":"web","agent":"not-hosted"}';
    const fields = [...${JSON.stringify(fields.flat().map(String))}, "content-length", String(body.length)];
    createServer((_, outgoing) => outgoing.writeHead(${status}, fields).end(body)).listen(process.env.PORT);`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/bare.mjs`, source);
  const port = await reservePort();
  const env = { ...process.env, NODE_ENV: "production", PORT: String(port) } as NodeJS.ProcessEnv;
  const child = spawnLeashed("node", ["bare.mjs"], { cwd: folder, env, stdio: "ignore" });
  const url = `http://localhost:${port}/`;
  await eventually(async () => {
    await fetch(url);
  });
  return { url, child };
}
