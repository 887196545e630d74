/*
 * Loaded before a program: what it fetches over https it gets from the server that TEST_OUTSIDE names, at
 * /<host>/<path>, so that hosts of the Internet can be stood in for. Everything before the network is as it is.
 */
const { fetch } = globalThis;
globalThis.fetch = (input, options) => {
  const { protocol, host, pathname } = new URL(input instanceof Request ? input.url : input);
  if (protocol !== "https:" || !process.env.TEST_OUTSIDE) return fetch(input, options);
  return fetch(`${process.env.TEST_OUTSIDE}/${host}${pathname}`, { ...options, dispatcher: undefined });
};
