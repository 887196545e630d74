import { type Owner, rejectImpersonator, requireOwner } from "@/lib/accounts/require-owner";
import { isRecentlyConfirmed } from "@/lib/auth/sessions/owner-confirmation";
import type { PublicErrorCode } from "@/lib/http/errors";
import { type FormHandler, form } from "@/lib/http/form";
import {
  createHandler,
  type Handler,
  type HandlerOptions,
  type HandlerRequest,
  type RouteHandler,
} from "@/lib/http/handler";
import type { Route } from "@/lib/http/route";

const byOwner = {
  identify,
  hasProof: ({ session }, nowMs) => isRecentlyConfirmed(session?.confirmedAtMs, nowMs),
} satisfies HandlerOptions<Owner>;

/** Creates the handler of a route whose entry asks for the owner. */
export function ownerHandler(route: Route, handler: Handler<Owner>): RouteHandler {
  return createHandler(route, handler, byOwner);
}

/** Creates the POST handler of a form on one of the owner's pages, which explains its failures. */
export function ownerForm(
  route: Route,
  handler: FormHandler<Owner>,
  explained?: readonly PublicErrorCode[],
): RouteHandler {
  return form(route, handler, { ...byOwner, ...(explained && { explained }) });
}

async function identify(call: HandlerRequest): Promise<Owner> {
  const { takes, notImpersonated } = call.route;
  const owner = await requireOwner(call, takes === "form" ? call.field("account") : undefined);
  if (notImpersonated) await rejectImpersonator(owner, notImpersonated, call.nowMs);
  return owner;
}
