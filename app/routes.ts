import { GET as changes } from "@/app/(pages)/changes/route";
import { connectHandlers } from "@/app/(pages)/connect/forms";
import { GET as connect } from "@/app/(pages)/connect/route";
import { documentPage } from "@/app/(pages)/docs/document";
import { GET as search } from "@/app/(pages)/docs/search/route";
import { GET as findHits } from "@/app/(pages)/docs/search.json/route";
import { GET as access } from "@/app/(pages)/home/access/route";
import { GET as account } from "@/app/(pages)/home/account/route";
import { GET as billing } from "@/app/(pages)/home/billing/route";
import { GET as returnFromCheckout } from "@/app/(pages)/home/checkout/return/route";
import { ownerHandlers } from "@/app/(pages)/home/forms";
import { GET as home } from "@/app/(pages)/home/route";
import { POST as acceptInvitation } from "@/app/(pages)/invitation/accept/route";
import { GET as invitation } from "@/app/(pages)/invitation/route";
import { POST as keepAccount } from "@/app/(pages)/keep-account/confirm/route";
import { GET as keepAccountPage } from "@/app/(pages)/keep-account/route";
import { GET as nothingHere } from "@/app/(pages)/nothing-here/route";
import { POST as dismissNotice } from "@/app/(pages)/notice/dismiss/route";
import { GET as front } from "@/app/(pages)/route";
import { GET as code } from "@/app/(pages)/sign-in/code/route";
import { signInHandlers } from "@/app/(pages)/sign-in/forms";
import { GET as signIn } from "@/app/(pages)/sign-in/route";
import { GET as status } from "@/app/(pages)/status/route";
import { GET as unsubscribePage } from "@/app/(pages)/unsubscribe/route";
import { waitlistHandlers } from "@/app/(pages)/waitlist/forms";
import { GET as waitlist } from "@/app/(pages)/waitlist/route";
import { GET as creditsBalance } from "@/app/api/credits/balance/route";
import { POST as unsubscribe } from "@/app/api/email/unsubscribe/route";
import { GET as entitlement } from "@/app/api/entitlement/route";
import { GET as health } from "@/app/api/health/route";
import { GET as siteBanner } from "@/app/api/site-banner/route";
import { POST as clerk } from "@/app/hooks/clerk/route";
import { POST as resend } from "@/app/hooks/resend/route";
import { POST as stripe } from "@/app/hooks/stripe/route";
import { publicationHandlers } from "@/app/publications/publications";
import { fileHandler } from "@/app/publications/static-files";
import { GET as ready } from "@/app/ready/route";
import type { RouteHandler } from "@/lib/http/handler";
import type { PlatformHandler } from "@/lib/http/platform";
import { allRoutes } from "@/lib/http/register/all-routes";
import { files } from "@/lib/http/register/files";
import { forms } from "@/lib/http/register/forms";
import { hooks } from "@/lib/http/register/hooks";
import { mcpServer } from "@/lib/http/register/mcp";
import { connectEndpoints } from "@/lib/http/register/oauth";
import { operations } from "@/lib/http/register/operations";
import { documentPages, pages } from "@/lib/http/register/pages";
import { probes } from "@/lib/http/register/probes";
import { mcpEndpoint } from "@/lib/mcp/handler";
import { connectEndpoint } from "@/lib/oauth/endpoint";
import { register } from "@/lib/oauth/registration";

const ofPages: Record<Exclude<keyof typeof pages, keyof typeof documentPages>, PlatformHandler> = {
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

const { registration, ...ofTheLibrary } = connectEndpoints;

/** Every address that a handler answers, and its handler: the same export that a platform calls. */
const byPath = new Map<string, RouteHandler>([
  ...inRegister(operations, { health, siteBanner, entitlement, creditsBalance, unsubscribe }),
  ...mcpServer.paths.map((path): Entry => [path, mcpEndpoint(path)]),
  ...inRegister(forms, {
    ...signInHandlers,
    ...ownerHandlers,
    ...waitlistHandlers,
    ...connectHandlers,
    acceptInvitation,
    keepAccount,
    returnFromCheckout,
    findHits,
    dismissNotice,
  }),
  ...inRegister(hooks, { clerk, resend, stripe }),
  ...inRegister(probes, { ready }),
  ...inRegister(pages, ofPages),
  ...publicationHandlers,
  ...Object.values(documentPages).map((page): Entry => [page.path, documentPage(page)]),
  ...Object.values(files).map((file): Entry => [file.path, fileHandler(file)]),
  ...Object.values(ofTheLibrary).map((endpoint): Entry => [endpoint.path, connectEndpoint(endpoint)]),
  [registration.path, register],
]);

type Entry = [path: string, handler: RouteHandler];

/** A handler, or what a platform calls with that handler. */
type Handles = RouteHandler | PlatformHandler;

function inRegister<Name extends string>(
  register: Record<Name, { path: string }>,
  handlers: Record<Name, Handles>,
): Entry[] {
  return Object.entries<Handles>(handlers).map(([name, handler]) => [
    register[name as Name].path,
    "answer" in handler ? handler.answer : handler,
  ]);
}

/** The handler of the route at this path, for every method. Throws if there is none: the router refuses unknown paths. */
export function handlerAt(path: string): RouteHandler {
  const handler = byPath.get(allRoutes.get(path)?.path ?? path);
  if (!handler) throw new Error(`${path} is in a register, and no one handles it`);
  return handler;
}
