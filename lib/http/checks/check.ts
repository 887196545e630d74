import type { Call } from "@/lib/http/call";
import type { ResponseParts } from "@/lib/http/response";
import type { Route } from "@/lib/http/route";

/** One of the checks that every request passes, if its route asks for it. */
export type Check = {
  isAsked: (route: Route) => unknown;
  ofPost?: true;
  /** Refuses by throwing an {@link ApiError}, or answers in place of the handler. */
  run: (
    call: Call,
    route: Route,
    options: CheckOptions<unknown>,
  ) => ResponseParts | undefined | void | Promise<ResponseParts | undefined> | Promise<void>;
};

/** What the checks of a route need from its module. */
export type CheckOptions<Who> = {
  /** Throws an {@link ApiError} if its signature is missing, or cannot be verified: the body is not read. */
  requireKey?: (call: Call) => void;
  /** The key that the quota counts; undefined for the client's own. */
  quotaKey?: (call: Call) => Promise<string | undefined> | undefined;
  /** Finds who sent a request, where the entry names a credential. Throws an {@link ApiError}. */
  identify?: (call: Call, route: Route) => Who | Promise<Who>;
  /** Whether they have proved in the last five minutes who they are, where the entry asks for that. */
  hasProof?: (who: Who, nowMs: number) => boolean;
};
