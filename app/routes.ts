import { wellKnownHandlers } from "@/app/.well-known/handlers";
import { POST as answerEmailChange } from "@/app/(pages)/change-email/answer/route";
import { GET as emailChange } from "@/app/(pages)/change-email/route";
import { GET as changes } from "@/app/(pages)/changes/route";
import { connectHandlers } from "@/app/(pages)/connect/forms";
import { GET as connect } from "@/app/(pages)/connect/route";
import { documentHandlers } from "@/app/(pages)/docs/handlers";
import { GET as search } from "@/app/(pages)/docs/search/route";
import { GET as findHits } from "@/app/(pages)/docs/search.json/route";
import { GET as connectApp } from "@/app/(pages)/home/access/connect/route";
import { GET as developers } from "@/app/(pages)/home/access/developers/route";
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
import { POST as mcpUnderApi } from "@/app/api/mcp/route";
import { GET as siteBanner } from "@/app/api/site-banner/route";
import { GET as changesFeed } from "@/app/changes.atom/route";
import { byPath } from "@/app/handlers-by-path";
import { POST as clerk } from "@/app/hooks/clerk/route";
import { GET as cron } from "@/app/hooks/cron/route";
import { POST as resend } from "@/app/hooks/resend/route";
import { POST as stripe } from "@/app/hooks/stripe/route";
import { GET as llms } from "@/app/llms.txt/route";
import { GET as llmsFull } from "@/app/llms-full.txt/route";
import { POST as mcpAccount } from "@/app/mcp/account/route";
import { POST as mcp } from "@/app/mcp/route";
import { oauthHandlers } from "@/app/oauth/handlers";
import { GET as openApi } from "@/app/openapi.json/route";
import { GET as ready } from "@/app/ready/route";
import { GET as robots } from "@/app/robots.txt/route";
import { GET as sitemap } from "@/app/sitemap.xml/route";
import { GET as statusFeed } from "@/app/status.atom/route";
import { GET as statusData } from "@/app/status.json/route";
import type { RouteHandler } from "@/lib/http/handler";
import { files } from "@/lib/http/register/files";
import { fileHandler } from "@/lib/http/static-files";

const atApi = [health, siteBanner, entitlement, creditsBalance, unsubscribe, mcp, mcpUnderApi, mcpAccount];
const ofSite = [front, waitlist, signIn, code, invitation, connect, search, changes, status, nothingHere];
const ofOwner = [home, billing, access, connectApp, developers, account];
const byLink = [keepAccountPage, emailChange, unsubscribePage];
const steps = [acceptInvitation, keepAccount, answerEmailChange, returnFromCheckout, findHits, dismissNotice];
const forPrograms = [openApi, llms, llmsFull, statusData, statusFeed, changesFeed, sitemap, robots];
const forProviders = [clerk, resend, stripe, cron, ready];

/** The handlers of every address: of the same exports that a platform calls, and of its files, which Next answers itself. */
const handlers = byPath([
  ...[atApi, ofSite, ofOwner, byLink, steps, forPrograms, forProviders].flat().map(({ answer }) => answer),
  ...[signInHandlers, ownerHandlers, waitlistHandlers, connectHandlers].flatMap(Object.values<RouteHandler>),
  ...documentHandlers,
  ...oauthHandlers,
  ...wellKnownHandlers,
  ...Object.values(files).map(fileHandler),
]);

/** The handler of the route at this path, for every method. Throws if there is none: the router refuses unknown paths. */
export function handlerAt(path: string): RouteHandler {
  const handler = handlers.get(path);
  if (!handler) throw new Error(`${path} is in a register, and no one handles it`);
  return handler;
}
