import * as creditsBalance from "@/app/api/credits/balance/route";
import * as unsubscribe from "@/app/api/email/unsubscribe/route";
import * as entitlement from "@/app/api/entitlement/route";
import * as health from "@/app/api/health/route";
import * as siteBanner from "@/app/api/site-banner/route";
import { operations } from "@/lib/api/operations";

type Handler = (request: Request) => Promise<Response>;

/** The route handlers of the register's operations: the same exports that a platform would call. */
const modules: Record<keyof typeof operations, Record<string, Handler>> = {
  health,
  siteBanner,
  entitlement,
  creditsBalance,
  unsubscribe,
};

const byPath = new Map<string, Record<string, Handler>>(
  Object.entries(operations).map(([name, { path }]) => [path, modules[name as keyof typeof operations]]),
);

/** The handler for a method at exactly this path. */
export function routeHandler(path: string, method: string): Handler | undefined {
  return byPath.get(path)?.[method];
}
