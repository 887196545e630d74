import * as changes from "@/app/(pages)/changes/route";
import * as answerApp from "@/app/(pages)/connect/answer/route";
import * as findDevice from "@/app/(pages)/connect/device/route";
import * as connect from "@/app/(pages)/connect/route";
import * as document from "@/app/(pages)/docs/[[...path]]/route";
import * as search from "@/app/(pages)/docs/search/route";
import * as findHits from "@/app/(pages)/docs/search.json/route";
import * as ownerAction from "@/app/(pages)/home/[...action]/route";
import * as access from "@/app/(pages)/home/access/route";
import * as account from "@/app/(pages)/home/account/route";
import * as billing from "@/app/(pages)/home/billing/route";
import * as returnFromCheckout from "@/app/(pages)/home/checkout/return/route";
import * as home from "@/app/(pages)/home/route";
import * as acceptInvitation from "@/app/(pages)/invitation/accept/route";
import * as invitation from "@/app/(pages)/invitation/route";
import * as keepAccount from "@/app/(pages)/keep-account/confirm/route";
import * as keepAccountPage from "@/app/(pages)/keep-account/route";
import * as nothingHere from "@/app/(pages)/nothing-here/route";
import * as dismissNotice from "@/app/(pages)/notice/dismiss/route";
import * as front from "@/app/(pages)/route";
import * as signInAction from "@/app/(pages)/sign-in/[...action]/route";
import * as code from "@/app/(pages)/sign-in/code/route";
import * as signIn from "@/app/(pages)/sign-in/route";
import * as status from "@/app/(pages)/status/route";
import * as unsubscribePage from "@/app/(pages)/unsubscribe/route";
import * as confirmWaitlist from "@/app/(pages)/waitlist/confirm/route";
import * as joinWaitlist from "@/app/(pages)/waitlist/join/route";
import * as waitlist from "@/app/(pages)/waitlist/route";
import * as creditsBalance from "@/app/api/credits/balance/route";
import * as unsubscribe from "@/app/api/email/unsubscribe/route";
import * as entitlement from "@/app/api/entitlement/route";
import * as health from "@/app/api/health/route";
import * as mcpUnderApi from "@/app/api/mcp/route";
import * as siteBanner from "@/app/api/site-banner/route";
import * as clerk from "@/app/hooks/clerk/route";
import * as resend from "@/app/hooks/resend/route";
import * as stripe from "@/app/hooks/stripe/route";
import * as mcpAccount from "@/app/mcp/account/route";
import * as mcp from "@/app/mcp/route";
import * as connectEndpoint from "@/app/oauth/[endpoint]/route";
import { publicationHandlers } from "@/app/publications/handlers";
import * as ready from "@/app/ready/route";
import { ApiError } from "@/lib/http/errors";
import { createHandler, type RouteHandler } from "@/lib/http/handler";
import { type mcpServer, operations } from "@/lib/http/operations";
import {
  actions,
  connectEndpoints,
  documentPages,
  files,
  hooks,
  ownerActions,
  pages,
  probes,
  signInActions,
} from "@/lib/http/pages";

type Handlers = Partial<Record<string, RouteHandler>>;

/** The route handlers of the operations: the same exports that a platform calls. */
const ofOperations: Record<keyof typeof operations, Handlers> = {
  health,
  siteBanner,
  entitlement,
  creditsBalance,
  unsubscribe,
};

const ofMcp: Record<(typeof mcpServer.paths)[number], Handlers> = {
  "/mcp": mcp,
  "/api/mcp": mcpUnderApi,
  "/mcp/account": mcpAccount,
};

const ofActions: Record<
  Exclude<keyof typeof actions, keyof typeof signInActions | keyof typeof ownerActions>,
  Handlers
> = {
  joinWaitlist,
  confirmWaitlist,
  acceptInvitation,
  findDevice,
  answerApp,
  keepAccount,
  returnFromCheckout,
  findHits,
  dismissNotice,
};

const ofHooks: Record<keyof typeof hooks, Handlers> = { clerk, resend, stripe };

const ofPages: Record<Exclude<keyof typeof pages, keyof typeof documentPages>, Handlers> = {
  front,
  waitlist,
  signIn,
  code,
  invitation,
  home,
  billing,
  access,
  account,
  unsubscribe: unsubscribePage,
  keepAccount: keepAccountPage,
  connect,
  search,
  changes,
  status,
  nothingHere,
};

/** Files are read from memory; this answers the methods that they do not accept. */
function refuseFile(): never {
  throw new ApiError("not_found");
}

/** Every address that a handler answers, and its handlers by method: the same exports that a platform calls. */
const byPath = new Map<string, Handlers>([
  ...inRegister(operations, ofOperations),
  ...Object.entries(ofMcp),
  ...inRegister(actions, ofActions),
  ...Object.values(signInActions).map(({ path }): Entry => [path, signInAction]),
  ...Object.values(ownerActions).map(({ path }): Entry => [path, ownerAction]),
  ...Object.values(connectEndpoints).map(({ path }): Entry => [path, connectEndpoint]),
  ...inRegister(hooks, ofHooks),
  ...inRegister(probes, { ready }),
  ...[...publicationHandlers].map(([path, GET]): Entry => [path, { GET }]),
  ...inRegister(pages, ofPages),
  ...Object.values(files).map((file): Entry => [file.path, { GET: createHandler(file, refuseFile) }]),
  ...Object.values(documentPages).map(({ path }): Entry => [path, document]),
]);

type Entry = [path: string, Handlers];

function inRegister<Name extends string>(
  register: Record<Name, { path: string }>,
  handlers: Partial<Record<Name, Handlers>>,
): Entry[] {
  return Object.entries(handlers).map(([name, handler]) => [
    register[name as Name].path,
    handler as Handlers,
  ]);
}

/** The handler at exactly this path: of the method, else any, which refuses it. GET's also handles HEAD. */
export function routeHandler(path: string, method: string): RouteHandler | undefined {
  const handlers = byPath.get(path);
  return handlers && (handlers[method] ?? handlers.GET ?? handlers.POST);
}
