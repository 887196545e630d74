import { ApiError } from "@/lib/api/errors";
import { leave, refusal } from "@/lib/api/headers";
import { type Address, mcpServer, operations } from "@/lib/api/operations";
import { beginVisit } from "@/lib/api/visit";

const byPath = new Map<string, Address>();
for (const operation of Object.values(operations)) byPath.set(operation.path, operation);
for (const path of mcpServer.paths) byPath.set(path, mcpServer);

/** The operation, or the MCP server, at exactly this path. */
export function addressAt(path: string): Address | undefined {
  return byPath.get(path);
}

const pageMethods = ["GET", "HEAD", "POST"];
const hookMethods = ["POST"];

/** Whether a path is that of a provider's webhook. */
export function isHook(path: string): boolean {
  return path.startsWith("/hooks/");
}

/**
 * The front door: refuses an unknown address under `/api` or `/mcp` (404) and a method that the address, the
 * webhook or any page does not accept (405). Answers `undefined` when the request may come in.
 *
 * @param path - as it was sent, without its query
 */
export function refuseAtDoor(
  method: string,
  path: string,
  headers: Pick<Headers, "get">,
): Response | undefined {
  const address = addressAt(path);
  const methods: readonly string[] = address?.methods ?? (isHook(path) ? hookMethods : pageMethods);
  const isKnown = address !== undefined || !isUnderApi(path);
  if (isKnown && methods.includes(method)) return undefined;
  const error = isKnown
    ? new ApiError("method_not_allowed", { headers: { allow: methods.join(", ") } })
    : new ApiError("not_found");
  return leave(address, beginVisit(method, path, headers), refusal(error));
}

/** Whether a path is under `/api` or `/mcp` in any spelling: case, doubled or backward slashes, dots, encodings. */
export function isUnderApi(path: string): boolean {
  const plain = decodeFully(path)
    .replace(/[\\/]+/g, "/")
    .toLowerCase();
  return underApi.test(plain) || underApi.test(withoutDotSegments(plain));
}

const underApi = /^\/(?:api|mcp)(?![\w-])/;

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
