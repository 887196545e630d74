const maxCharacters = 1000; // browsers send fewer than 200

/** The weights of a field such as `Accept` or `Accept-Encoding`, by value in lower case (RFC 9110 §12.4.2). */
export function weightsOf(field: string): Map<string, number> {
  return new Map(
    field
      .slice(0, maxCharacters)
      .toLowerCase()
      .split(",")
      .map((value) => {
        const [name = "", weight] = value.split(";");
        return [name.trim(), weight ? Number(weight.trim().replace(/^q=/, "")) : 1] as const;
      }),
  );
}

/** Whether a client prefers Markdown to HTML: browsers, and others that do not name it, do not. */
export function prefersMarkdown(headers: Pick<Headers, "get">): boolean {
  const accept = headers.get("accept") ?? "";
  if (!/text\/markdown/i.test(accept)) return false;
  const weights = weightsOf(accept);
  const markdown = weights.get("text/markdown") ?? 0;
  return markdown > 0 && markdown >= (weights.get("text/html") ?? 0);
}
