import { type IncomingMessage, request, type ServerResponse } from "node:http";
import { serve } from "@/tests/support/loopback";
import { reservePort } from "@/tests/support/port";

/**
 * Passes requests on to a port of this computer, with their headers and more.
 *
 * @param more - headers that a proxy adds
 * @param loses - whether the answer to a request is lost: the connection ends instead
 */
export function passOn(
  port: () => number,
  more: Record<string, string> = {},
  loses: (incoming: IncomingMessage) => boolean = () => false,
) {
  return (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const { method, url: path } = incoming;
    const headers = { ...incoming.headers, ...more };
    const target = { host: "127.0.0.1", port: port(), method, path, headers, agent: false };
    const onward = request(target, (answer) => {
      if (loses(incoming)) {
        outgoing.destroy();
        return;
      }
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.once("error", () => outgoing.destroy());
    incoming.pipe(onward);
  };
}

/** A proxy on loopback that loses the next answer to a path whenever it is told to. */
export async function startLosingProxy(port: () => number) {
  let lost: string | undefined;
  const loses = ({ url = "" }: IncomingMessage) => {
    if (url !== lost) return false;
    lost = undefined;
    return true;
  };
  const own = await reservePort();
  await serve(passOn(port, {}, loses), own);
  return {
    url: `http://localhost:${own}`,
    loseNext: (path: string) => {
      lost = path;
    },
  };
}
