import { BlockList, isIP, isIPv6 } from "node:net";
import * as z from "zod";

/** Networks in CIDR notation (RFC 4632 §3.1, RFC 4291 §2.3) with commas between them, and a test of addresses. */
export const networks = z.string().transform((text, context) => {
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
  return { named, has: (address: string) => list.check(address, isIPv6(address) ? "ipv6" : "ipv4") };
});

/** This machine, and networks that the internet does not reach (RFC 6890, RFC 6598, RFC 4193). */
export const privateNetworks = networks.parse(
  "127.0.0.0/8,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,169.254.0.0/16,100.64.0.0/10,::1/128,fc00::/7,fe80::/10",
);

/**
 * Networks that are no one's on the internet, next to the private ones, or that stand for IPv4 addresses (RFC 6890). IPv6 has
 * global addresses in 2000::/3 alone.
 */
const reserved = networks.parse(
  "0.0.0.0/8,192.0.0.0/24,192.88.99.0/24,198.18.0.0/15,224.0.0.0/4,240.0.0.0/4," +
    "::/96,::ffff:0:0:0/96,64:ff9b:1::/48,100::/8,200::/7,400::/6,800::/5,1000::/4,2001::/23,2002::/16,4000::/2,8000::/1",
);

/** Those of IPv4 as a resolver writes them where IPv6 alone leads out (RFC 6147): 10.0.0.0/8 as 64:ff9b::10.0.0.0/104. */
const wrapped = networks.parse(
  [...privateNetworks.named, ...reserved.named]
    .filter((network) => !network.includes(":"))
    .map((network) => network.split("/"))
    .map(([address, bits]) => `64:ff9b::${address}/${96 + Number(bits)}`)
    .join(),
);

/** Whether an address is one of the internet. */
export const isPublic = (address: string) =>
  ![privateNetworks, reserved, wrapped].some((networks) => networks.has(address));
