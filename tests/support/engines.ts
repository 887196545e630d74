import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";
import type { Environment } from "@/tests/support/service";

/** A store engine that the same tests run on. */
export type Engine = {
  name: string;
  /** The settings of a fresh, empty store on it. */
  prepare: () => Promise<Environment>;
};

const embedded: Engine = { name: "the embedded store", prepare: async () => ({}) };

function postgres(serverUrl: string): Engine {
  return { name: "PostgreSQL", prepare: async () => postgresSettings(await createDatabase(serverUrl)) };
}

/** Every engine that is installed here. */
export const engines: Engine[] = [
  embedded,
  ...(inject("postgresUrl") ? [postgres(inject("postgresUrl") ?? "")] : []),
];

/** Makes an empty database of the test's own and answers its address. */
export async function createDatabase(serverUrl: string): Promise<string> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  const client = new pg.Client(serverUrl);
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  return serverUrl.replace(/\/postgres$/, `/${name}`);
}

/** What DATABASE_URL requires beside itself. */
export function postgresSettings(databaseUrl: string): Environment {
  return { DATABASE_URL: databaseUrl, APP_URL: "http://localhost:3000", APP_SECRET: "s".repeat(32) };
}
