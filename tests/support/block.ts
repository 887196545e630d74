import { afterAll, beforeEach } from "vitest";
import type { Db } from "@/lib/db/store";
import type { Engine, PrepareOptions, Stage } from "@/tests/support/engines";
import { emptyTables, giveBack, lend } from "@/tests/support/lent-service";
import { type Environment, Service, type ServiceOptions } from "@/tests/support/service";
import { openShop, type Shop } from "@/tests/support/shop";

/*
 * What the tests of a file, or of a `describe` block, share. It asks for it at its top, with `await`, and what it gets
 * ends with it, the last first.
 */

/** A store of this engine. */
export async function startStage(engine: Engine, options?: PrepareOptions): Promise<Stage> {
  const stage = await engine.prepare(options);
  afterAll(stage.clear);
  return stage;
}

/** A store that each test finds empty but for its keys, and one instance of it. */
export async function startStageForEach(
  engine: Engine,
  options?: PrepareOptions,
): Promise<{ stage: Stage; db: Db }> {
  const stage = await startStage(engine, options);
  beforeEach(() => emptyTables(stage));
  return { stage, db: await stage.open() };
}

/** A service with these settings, which must log no error, unless some are expected. */
export async function startService(
  environment: Environment = {},
  { expectErrors = false, ...options }: ServiceOptions & { expectErrors?: boolean } = {},
): Promise<Service> {
  const service = await Service.start(environment, options);
  afterAll(() => service.stop({ expectErrors }));
  return service;
}

/** A service that sells at a fake Stripe. */
export async function startShop(
  engine: Engine,
  environment?: Environment,
  options?: PrepareOptions,
): Promise<Shop> {
  const shop = await openShop(engine, environment, options);
  afterAll(shop.close);
  return shop;
}

/** The service that the worker lends to its files, and the store behind it. */
export async function borrowService(
  engine?: Engine,
  options?: { isAlone: boolean },
): Promise<{ stage: Stage; service: Service }> {
  const lent = await lend(engine, options);
  afterAll(() => giveBack(lent));
  return lent;
}
