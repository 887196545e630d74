import { parse } from "content-type";

/**
 * The weights of a field such as `Accept` or `Accept-Encoding`, by value in lower case (RFC 9110 §12.4.2). The library reads
 * the parameters, of which a value may have others before its weight, in quotes with commas.
 */
export function weightsOf(field: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (let start = 0; start < field.length; ) {
    const { type, parameters, index } = parse(field, { comma: true, start });
    weights.set(type, Number(parameters.q ?? 1));
    start = index + 1;
  }
  return weights;
}

/** Whether a client prefers Markdown to HTML: browsers, and others that do not name it, do not. */
export function prefersMarkdown(headers: Pick<Headers, "get">): boolean {
  const accept = headers.get("accept") ?? "";
  if (!/text\/markdown/i.test(accept)) return false;
  const weights = weightsOf(accept);
  const markdown = weights.get("text/markdown") ?? 0;
  return markdown > 0 && markdown >= (weights.get("text/html") ?? 0);
}
