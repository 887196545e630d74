import { register } from "node:module";

/* Preloaded into a program: writes to standard error which of these packages it loads, and when. */
const hooks = `
import { writeSync } from "node:fs";
export async function resolve(specifier, context, next) {
  if (["stripe", "libsql"].includes(specifier)) writeSync(2, "loaded " + specifier + "\\n");
  return next(specifier, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
