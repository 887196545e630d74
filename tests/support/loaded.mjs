import { register } from "node:module";

/*
 * Preloaded into a program: writes to standard error which of these packages, and which parts of our programs, it loads, and
 * when.
 */
const hooks = `
import { writeSync } from "node:fs";
export async function resolve(specifier, context, next) {
  const isPart = specifier.startsWith(".") && context.parentURL?.includes("/dist/");
  if (isPart || /^(?:stripe|node:sqlite|next(?:\\/.*)?)$/.test(specifier)) writeSync(2, "loaded " + specifier + "\\n");
  return next(specifier, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
