/** Whether a path is for programs, whose 404 is JSON. MCP clients probe for an authorization server, for example. */
export function isProgramPath(path: string): boolean {
  return isUnderApi(path) || path === "/register" || /^\/(?:\.well-known|oauth)\//.test(path);
}

/** Whether a path is under `/api` or `/mcp` in any spelling: case, doubled slashes, backslashes, dots, encodings. */
export function isUnderApi(path: string): boolean {
  const plain = decodeFully(path)
    .replace(/[\\/]+/g, "/")
    .toLowerCase();
  const withoutDots = URL.parse(plain.replace(/[?#]/g, "-"), "http://localhost")?.pathname ?? "";
  return underApi.test(plain) || underApi.test(withoutDots);
}

const underApi = /^\/(?:api|mcp)(?![\w-])/;

/** Decodes percent-encoding repeatedly, as some servers do: `%2561` is `%61` is `a`. */
function decodeFully(path: string): string {
  let decoded = path;
  for (let pass = 0; pass < 4 && decoded.includes("%"); pass++) {
    decoded = decoded.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  }
  return decoded;
}
