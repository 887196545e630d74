import { type ChildProcess, execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { eventually } from "@/tests/support/databases";
import { spawnLeashed } from "@/tests/support/leash";
import { reservePort } from "@/tests/support/port";

const body = '{"ok":true,"service":"corner-office-web","surface":"web","agent":"not-hosted"}';
const folder = "dist/bench";

export type Bare = { name: string; url: string; child: ChildProcess };

/** The least that `node:http` can do: one JSON line. */
export async function startBareNode(): Promise<Bare> {
  const source = `import { createServer } from "node:http";
    createServer((_, outgoing) => {
      outgoing.setHeader("content-type", "application/json");
      outgoing.end(${JSON.stringify(body)});
    }).listen(process.env.PORT);`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/bare.mjs`, source);
  return startBare("bare node:http", "/", ["bare.mjs"], folder);
}

/** The least that Next can do: a route handler of one JSON line, and no middleware. */
export async function startBareNext(): Promise<Bare> {
  const app = `${folder}/next`;
  mkdirSync(`${app}/app/bare`, { recursive: true });
  writeFileSync(
    `${app}/app/bare/route.js`,
    `export const dynamic = "force-dynamic";
     export const GET = () => new Response('${body}', { headers: { "content-type": "application/json" } });`,
  );
  const next = `${process.cwd()}/node_modules/next/dist/bin/next`;
  execFileSync("node", [next, "build"], { cwd: app, stdio: "ignore" });
  return startBare("bare Next route handler", "/bare", [next, "start"], app);
}

async function startBare(name: string, path: string, program: string[], cwd: string): Promise<Bare> {
  const port = await reservePort();
  const env = { ...process.env, NODE_ENV: "production", PORT: String(port) } as NodeJS.ProcessEnv;
  const child = spawnLeashed("node", program, { cwd, env, stdio: "ignore" });
  const url = `http://localhost:${port}${path}`;
  await eventually(async () => {
    if (!(await fetch(url)).ok) throw new Error(`${name} does not answer`);
  });
  return { name, url, child };
}
