import * as creditsBalance from "@/app/api/credits/balance/route";
import * as unsubscribe from "@/app/api/email/unsubscribe/route";
import * as entitlement from "@/app/api/entitlement/route";
import * as health from "@/app/api/health/route";
import * as mcpUnderApi from "@/app/api/mcp/route";
import * as siteBanner from "@/app/api/site-banner/route";
import * as mcp from "@/app/mcp/route";
import * as ready from "@/app/ready/route";
import { type mcpServer, operations } from "@/lib/api/operations";
import { probes } from "@/lib/api/pages";

type Handler = (request: Request) => Promise<Response>;
type Handlers = Record<string, Handler>;

/** The route handlers of the register's operations: the same exports that a platform would call. */
const modules: Record<keyof typeof operations, Handlers> = {
  health,
  siteBanner,
  entitlement,
  creditsBalance,
  unsubscribe,
};

const mcpModules: Record<(typeof mcpServer.paths)[number], Handlers> = {
  "/mcp": mcp,
  "/api/mcp": mcpUnderApi,
};

const byPath = new Map<string, Handlers>([
  ...Object.entries(operations).map(
    ([name, { path }]) => [path, modules[name as keyof typeof operations]] as const,
  ),
  ...Object.entries(mcpModules),
  [probes.ready.path, ready],
]);

/** The handler for a method at exactly this path. */
export function routeHandler(path: string, method: string): Handler | undefined {
  return byPath.get(path)?.[method];
}
