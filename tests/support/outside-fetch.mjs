/*
 * Preloaded into a program: redirects its https fetches to the server that TEST_OUTSIDE names, at /<host>/<path>, so
 * that tests can fake Internet hosts. Without one, no other host than this machine is asked.
 */
const { fetch } = globalThis;
globalThis.fetch = (input, options) => {
  const { protocol, host, pathname } = new URL(input instanceof Request ? input.url : input);
  const isHere = /^(?:localhost|127\.[\d.]+|\[::1\])(?::|$)/.test(host);
  if (protocol !== "https:" || isHere) return fetch(input, options);
  if (!process.env.TEST_OUTSIDE) return Promise.reject(new Error("no network here"));
  return fetch(`${process.env.TEST_OUTSIDE}/${host}${pathname}`, { ...options, dispatcher: undefined });
};
