/*
 * Names of Next that its documentation does not promise. All others in this project are documented. A test compares
 * them with the installed version.
 */

/** The version of Next whose names these are. */
export const testedNextVersion = "16.4.6";

/** Headers by which a middleware tells Next how to go on. */
export const middlewareHeaders = {
  next: "x-middleware-next",
  rewrite: "x-middleware-rewrite",
  overriddenRequestHeaders: "x-middleware-override-headers",
  /** Followed by the name of an overridden request header. */
  requestHeaderPrefix: "x-middleware-request-",
};

/** The request headers of Next's client, with the maximum characters that we pass on. */
export const clientHeaderCharacters = {
  rsc: 16,
  "next-router-prefetch": 16,
  "next-router-segment-prefetch": 512,
  "next-router-state-tree": 8 * 1024,
  "next-url": 1024,
};

/** The request header of a server action, with its maximum characters. */
export const serverActionCharacters = { "next-action": 128 };

/** The paths of Next's own files, and of its tools in development. */
export const nextPaths = { assets: "/_next/", development: "/__nextjs" };

/** The files that `next build` writes, relative to the project. */
export const buildFiles = {
  assets: ".next/static",
  routes: ".next/app-path-routes-manifest.json",
  serverConfiguration: ".next/required-server-files.json",
};

/** The environment variable by which Next's stand-alone server gets its configuration. */
export const configurationVariable = "__NEXT_PRIVATE_STANDALONE_CONFIG";

/** The global under which a platform offers `waitUntil`. */
export const platformContext = Symbol.for("@next/request-context");
