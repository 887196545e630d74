import { register } from "node:module";

/*
 * Preloaded into a program of ours: GET /api/site-banner is being retired as TEST_RETIREMENT says, in JSON. Node runs
 * the text below in a thread of its own.
 */
const hooks = `
const was = /path:\\s*"\\/api\\/site-banner",/;
export async function load(url, context, next) {
  const loaded = await next(url, context);
  // esbuild breaks a long line within a text.
  const source = String(loaded.source).replaceAll("\\\\\\n", "");
  if (!url.includes("/dist/") || !was.test(source)) return loaded;
  return { ...loaded, source: source.replace(was, (path) => path + "retirement:" + process.env.TEST_RETIREMENT + ",") };
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
