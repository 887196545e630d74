/*
 * Characters that control a terminal or that it displays as something else: control and format characters,
 * bidirectional overrides, unassigned characters and line separators. Names chosen by strangers end up in the output.
 */
export const unprintable = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Replaces unprintable characters, including line breaks. */
export function toPrintable(text: string): string {
  return text.replace(unprintable, "\ufffd");
}
