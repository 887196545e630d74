import { connect, createServer } from "node:net";
import { afterAll } from "vitest";
import { toMessage } from "@/tests/support/conflicts";
import { reservePort } from "@/tests/support/port";

/** What a pooler says when it ends a connection: a SQLSTATE, its own words, and FATAL in its own language. */
export type Refusal = readonly [code: string, message: string, severity?: string];

/**
 * Stands before a PostgreSQL as the poolers of cloud providers do, each of which refuses in its own words what it does not take.
 *
 * @param refusalOf - of what a client sends, which begins with its settings
 * @returns the database's URL through it
 */
export async function startManagedPooler(
  databaseUrl: string,
  refusalOf: (sent: string) => Refusal | undefined,
): Promise<string> {
  const url = new URL(databaseUrl);
  const serverPort = Number(url.port);
  const server = createServer((near) => {
    const far = connect(serverPort, "127.0.0.1");
    near.on("data", (bytes) => {
      const [code, message, severity = "FATAL"] = refusalOf(bytes.toString("latin1")) ?? [];
      if (code) near.end(toMessage("E", `S${severity}\0VFATAL\0C${code}\0M${message}\0\0`));
      else far.write(bytes);
    });
    far.pipe(near);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const)
      one.on("error", () => {}).on("close", () => other.destroy());
  });
  const port = await reservePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  afterAll(() => void server.close());
  url.port = String(port);
  url.searchParams.set("sslmode", "disable");
  return url.href;
}
