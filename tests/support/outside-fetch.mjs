/*
 * Preloaded into a program: redirects its https fetches to the server that TEST_OUTSIDE names, at /<host>/<path>, so
 * that tests can fake Internet hosts. All code before the network is unchanged.
 */
const { fetch } = globalThis;
globalThis.fetch = (input, options) => {
  const { protocol, host, pathname } = new URL(input instanceof Request ? input.url : input);
  if (protocol !== "https:" || !process.env.TEST_OUTSIDE) return fetch(input, options);
  return fetch(`${process.env.TEST_OUTSIDE}/${host}${pathname}`, { ...options, dispatcher: undefined });
};
