import { ApiError, tooManyRequests } from "@/lib/http/errors";
import type { Method } from "@/lib/http/method";
import type { ApiRoute, Operation } from "@/lib/http/operations";
import { createRequestContext, type RequestContext } from "@/lib/http/request-context";
import { type Answer, errorParts, finalizeResponse, type HeaderList } from "@/lib/http/response";
import { consumeRateLimit } from "@/lib/rate-limit/rate-limit";
import { log } from "@/lib/runtime/log";

/** A room: does the work of one operation, returns the body of its 200, throws an {@link ApiError} to refuse. */
type OperationHandler = (
  request: Request,
  context: RequestContext,
) => object | string | Promise<object | string>;

type RouteHandler = (request: Request) => Promise<Response>;

/** The route handlers of an operation, one for each method in the register. */
export function createOperationHandlers<Op extends Operation>(
  operation: Op,
  handler: OperationHandler,
): Record<Op["methods"][number], RouteHandler> {
  const toAnswer = (body: object | string, headers: HeaderList): Answer => ({ status: 200, body, headers });
  return createHandler(operation, operation.path, requireSupportedVersion, handler, toAnswer);
}

/**
 * The hall: the route handlers of an address, one for each of its methods.
 *
 * A request walks admission → quota → room → way out. Whatever is thrown on the way is answered here: an
 * ApiError as it says, anything else as a 500 whose cause goes to the log alone.
 *
 * @param admit - throws an ApiError to refuse a request before it spends anything
 * @param toAnswer - makes an answer of what the room returned, and of the headers gathered on the way
 */
export function createHandler<At extends ApiRoute, Found>(
  address: At,
  path: string,
  admit: (request: Request) => void,
  handler: (request: Request, context: RequestContext) => Found | Promise<Found>,
  toAnswer: (found: Found, headers: HeaderList) => Answer,
): Record<At["methods"][number], RouteHandler> {
  const handle: RouteHandler = async (request) => {
    const context = createRequestContext(request.method, path, request.headers);
    let gathered: HeaderList = [];
    let answer: Answer;
    try {
      admit(request);
      if (request.method === "OPTIONS") {
        answer = { status: 204, body: null, headers: preflight(address) };
      } else {
        if (address.quota) {
          const spent = await consumeRateLimit(address.quota, request);
          gathered = spent.headers;
          if (spent.errorParts) throw tooManyRequests(spent.errorParts);
        }
        answer = toAnswer(await handler(request, context), gathered);
      }
    } catch (thrown) {
      answer = errorParts(thrown instanceof ApiError ? thrown : unexpectedError(thrown, context), gathered);
    }
    return finalizeResponse(address, context, answer);
  };
  const handlers = address.methods.map((method: Method) => [method, handle]);
  return Object.fromEntries(handlers);
}

function requireSupportedVersion(request: Request): void {
  const version = request.headers.get("api-version");
  if (version === null || /^[ \t]*1[ \t]*$/.test(version)) return;
  throw new ApiError("invalid_request", {
    message: "The API-Version header names a version that is not supported.",
    hint: "Send 'API-Version: 1', or leave the header out.",
  });
}

/** `Allow` (RFC 9110 §9.3.7) and, where any origin may read, what a browser asks before it sends. */
function preflight({ methods, anyOrigin }: ApiRoute): HeaderList {
  const allow = methods.join(", ");
  if (!anyOrigin) return ["allow", allow];
  return [
    "allow",
    allow,
    "access-control-allow-methods",
    allow,
    "access-control-allow-headers",
    anyOrigin.sends,
    "access-control-max-age",
    "7200",
  ];
}

/** A failure that nobody foresaw: its cause goes to the log, and to the client fixed words. */
export function unexpectedError(failure: unknown, { requestId }: RequestContext): ApiError {
  log().error({ err: failure, requestId }, "unexpected failure");
  return new ApiError("internal_error");
}
