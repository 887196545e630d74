import { Resolver } from "node:dns/promises";
import type { IncomingMessage } from "node:http";
import * as https from "node:https";
import type { LookupFunction } from "node:net";
import { isPublic } from "@/lib/config/networks";
import { readBounded } from "@/lib/runtime/read-bounded";

/**
 * Gets a document whose https address a stranger may have chosen: from the internet alone, and not from this machine or its
 * network (SSRF). It follows no redirect and uses no proxy, which would look the name up for itself. Throws if the document
 * is larger than `maxBytes`, or not there within `withinMs`.
 */
export async function fetchPublicDocument(
  address: string,
  maxBytes: number,
  withinMs: number,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const signal = AbortSignal.timeout(withinMs);
  const headers = { accept: "application/json", "user-agent": "corner-office" };
  https.get(address, { lookup, agent: false, signal, headers }).on("response", resolve).on("error", reject);
  const response = await promise;
  if (response.statusCode !== 200) {
    response.destroy();
    throw new Error(`unexpected response status ${response.statusCode}`);
  }
  return readBounded(response, maxBytes);
}

/** Asks the name's servers itself: Node has two threads for every other name, which one without an answer would hold. */
const lookup: LookupFunction = async (name, options, callback) => {
  const resolver = new Resolver({ timeout: 1500, tries: 2 });
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const found = [
    ...(v4.status === "fulfilled" ? v4.value : []).map((address) => ({ address, family: 4 })),
    ...(v6.status === "fulfilled" ? v6.value : []).map((address) => ({ address, family: 6 })),
  ];
  const [first, ...others] = found.filter(({ address }) => isPublic(address));
  if (!first)
    callback(new Error(found.length > 0 ? "is in no public network" : `${name} has no address`), "");
  else if (options.all) callback(null, [first, ...others]);
  else callback(null, first.address, first.family);
};
