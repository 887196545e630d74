import dns from "node:dns";

/* Preloaded into a program: resolves the host name in TEST_NAME to this machine, as any DNS record may. */
const { lookup } = dns;
dns.lookup = (hostname, options, callback) => {
  if (hostname !== process.env.TEST_NAME) return lookup(hostname, options, callback);
  const answer = { address: "127.0.0.1", family: 4 };
  const [tell, { all }] = typeof options === "function" ? [options, {}] : [callback, options];
  process.nextTick(() => (all ? tell(null, [answer]) : tell(null, answer.address, answer.family)));
};
