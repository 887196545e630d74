import dns from "node:dns";
import http from "node:http";
import https from "node:https";
import { syncBuiltinESMExports } from "node:module";

/*
 * Preloaded into a program: redirects its https fetches to the server that TEST_OUTSIDE names, at /<host>/<path>, so
 * that tests can fake Internet hosts. Without one, no other host than this machine is asked.
 */
const isHere = (host) => /^(?:localhost|127\.[\d.]+|\[::1\])(?::|$)/.test(host);

const { fetch } = globalThis;
globalThis.fetch = (input, options) => {
  const { protocol, host, pathname } = new URL(input instanceof Request ? input.url : input);
  if (protocol !== "https:" || isHere(host)) return fetch(input, options);
  if (!process.env.TEST_OUTSIDE) return Promise.reject(new Error("no network here"));
  return fetch(`${process.env.TEST_OUTSIDE}/${host}${pathname}`, { ...options, dispatcher: undefined });
};

/* The same for what asks for a host's addresses itself: those of hosts that begin with "private" are in a private network. */
dns.promises.Resolver.prototype.resolve4 = async (name) => [
  name.startsWith("private") ? "10.0.0.5" : "203.0.113.5",
];
dns.promises.Resolver.prototype.resolve6 = () => Promise.reject(new Error("no address"));
https.get = (address, { lookup, signal, headers }) => {
  const { host, hostname, pathname } = new URL(address);
  const request = http.request(`${process.env.TEST_OUTSIDE}/${host}${pathname}`, { signal, headers });
  lookup(hostname, { all: true }, (failure) => (failure ? request.destroy(failure) : request.end()));
  return request;
};
syncBuiltinESMExports();
