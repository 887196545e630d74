import { BlockList, isIP, isIPv6 } from "node:net";
import * as z from "zod";

/** Some networks, as they are written in a setting and as a test of addresses. */
export type Networks = { named: readonly string[]; has: (address: string) => boolean };

/** Networks in CIDR notation (RFC 4632 §3.1, RFC 4291 §2.3), separated by commas. */
export const networks = z.string().transform((text, context): Networks => {
  const named = text.split(",").map((network) => network.trim());
  const list = new BlockList();
  for (const network of named) {
    const [, address = "", bits = ""] = /^([\da-f.:]+)\/(\d{1,3})$/i.exec(network) ?? [];
    const family = isIP(address);
    if (family === 0 || Number(bits) > (family === 6 ? 128 : 32)) {
      const message = `takes networks like 203.0.113.0/24 or 2001:db8::/32, not ${network}`;
      context.addIssue({ code: "custom", message });
      return z.NEVER;
    }
    list.addSubnet(address, Number(bits), family === 6 ? "ipv6" : "ipv4");
  }
  return { named, has: (address) => list.check(address, isIPv6(address) ? "ipv6" : "ipv4") };
});
