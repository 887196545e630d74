import { ApiError } from "@/lib/api/errors";
import { type Asked, leave, refusal } from "@/lib/api/headers";
import { type Operation, operations } from "@/lib/api/operations";

const byPath = new Map<string, Operation>(
  Object.values(operations).map((operation) => [operation.path, operation]),
);

/** The operation at exactly this path. */
export function operationAt(path: string): Operation | undefined {
  return byPath.get(path);
}

const pageMethods = ["GET", "HEAD", "POST", "OPTIONS"];

/**
 * The front door: refuses an unknown address under `/api` (404) and a method that the operation, or any
 * page, does not accept (405). Answers `undefined` when the request may come in.
 *
 * @param path - as it was sent, without its query
 */
export function refuseAtDoor(path: string, asked: Asked): Response | undefined {
  const operation = operationAt(path);
  if (!operation && isUnderApi(path)) return leave(undefined, asked, refusal(new ApiError("not_found")));
  const methods: readonly string[] = operation?.methods ?? pageMethods;
  if (methods.includes(asked.method)) return undefined;
  const headers = { allow: methods.join(", ") };
  return leave(operation, asked, refusal(new ApiError("method_not_allowed", { headers })));
}

/** Whether a path is under `/api` in any spelling: case, doubled or backward slashes, dots, encodings. */
export function isUnderApi(path: string): boolean {
  const plain = decodeFully(path)
    .replace(/[\\/]+/g, "/")
    .toLowerCase();
  return underApi.test(plain) || underApi.test(withoutDotSegments(plain));
}

const underApi = /^\/api(?![\w-])/;

/** Decodes percent signs as often as any server might: `%2561` is `%61` is `a`. */
function decodeFully(path: string): string {
  let decoded = path;
  for (let pass = 0; pass < 4 && decoded.includes("%"); pass++) {
    decoded = decoded.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  }
  return decoded;
}

function withoutDotSegments(path: string): string {
  const kept: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "..") kept.pop();
    else if (segment !== "." && segment !== "") kept.push(segment);
  }
  return `/${kept.join("/")}`;
}
