import { ApiError, tooManyRequests } from "@/lib/api/errors";
import { type Answer, type HeaderList, leave, refusal } from "@/lib/api/headers";
import type { Method } from "@/lib/api/method";
import type { Address, Operation } from "@/lib/api/operations";
import { spendQuota } from "@/lib/api/rate-limit";
import { beginVisit, type Visit } from "@/lib/api/visit";
import { log } from "@/lib/process/log";

/** A room: does the work of one operation, returns the body of its 200, throws an {@link ApiError} to refuse. */
type Room = (request: Request, visit: Visit) => object | string | Promise<object | string>;

type Handler = (request: Request) => Promise<Response>;

/** The route handlers of an operation, one for each method in the register. */
export function endpoint<Op extends Operation>(
  operation: Op,
  room: Room,
): Record<Op["methods"][number], Handler> {
  const toAnswer = (body: object | string, headers: HeaderList): Answer => ({ status: 200, body, headers });
  return hall(operation, operation.path, requireSupportedVersion, room, toAnswer);
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
export function hall<At extends Address, Found>(
  address: At,
  path: string,
  admit: (request: Request) => void,
  room: (request: Request, visit: Visit) => Found | Promise<Found>,
  toAnswer: (found: Found, headers: HeaderList) => Answer,
): Record<At["methods"][number], Handler> {
  const handle: Handler = async (request) => {
    const visit = beginVisit(request.method, path, request.headers);
    let gathered: HeaderList = [];
    let answer: Answer;
    try {
      admit(request);
      if (request.method === "OPTIONS") {
        answer = { status: 204, body: null, headers: preflight(address) };
      } else {
        if (address.quota) {
          const spent = await spendQuota(address.quota, request);
          gathered = spent.headers;
          if (spent.refusal) throw tooManyRequests(spent.refusal);
        }
        answer = toAnswer(await room(request, visit), gathered);
      }
    } catch (thrown) {
      answer = refusal(thrown instanceof ApiError ? thrown : unexpected(thrown, visit), gathered);
    }
    return leave(address, visit, answer);
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
function preflight({ methods, anyOrigin }: Address): HeaderList {
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
export function unexpected(failure: unknown, { requestId }: Visit): ApiError {
  log().error({ err: failure, requestId }, "unexpected failure");
  return new ApiError("internal_error");
}
