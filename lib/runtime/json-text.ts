import { unprintable } from "@/lib/runtime/printable";

/** Indented JSON in which unprintable characters are escaped, so that nothing is lost. */
export function toJson(value: unknown): string {
  const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value, null, 2).replace(unprintable, (character) =>
    character === "\n" ? character : character.split("").map(escapeUnit).join(""),
  );
}

/** An object as such a text, in parts: a field that is a list of pages is written while it is read. */
export async function* objectInParts(fields: Record<string, unknown>): AsyncGenerator<string> {
  let before = "{";
  for (const [name, value] of Object.entries(fields)) {
    yield `${before}\n  ${toJson(name)}: `;
    if (isInParts<unknown[]>(value)) yield* arrayInParts(value, "  ");
    else yield indented(value, "  ");
    before = ",";
  }
  yield "\n}\n";
}

/** The items of pages as one array, in parts, that stands as far from the edge as `indent`. */
export async function* arrayInParts(pages: AsyncIterable<unknown[]>, indent = ""): AsyncGenerator<string> {
  const within = `${indent}  `;
  let before = "[";
  for await (const page of pages) {
    if (page.length === 0) continue;
    yield `${before}\n${page.map((item) => within + indented(item, within)).join(",\n")}`;
    before = ",";
  }
  yield before === "[" ? "[]" : `\n${indent}]`;
}

const indented = (value: unknown, indent: string) => toJson(value).replaceAll("\n", `\n${indent}`);

/** Whether it is read in parts. */
export const isInParts = <Part>(value: unknown): value is AsyncIterable<Part> =>
  Symbol.asyncIterator in Object(value);
