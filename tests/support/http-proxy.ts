import { request } from "node:http";
import { serve } from "@/tests/support/loopback";

/** A proxy on loopback that loses the next answer to a path whenever it is told to: the connection ends instead. */
export async function startLosingProxy(port: () => number) {
  let lost: string | undefined;
  const { port: own } = await serve((incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const onward = request(
      { host: "127.0.0.1", port: port(), method, path, headers, agent: false },
      (answer) => {
        if (path === lost) {
          lost = undefined;
          outgoing.destroy();
          return;
        }
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    onward.once("error", () => outgoing.destroy());
    incoming.pipe(onward);
  });
  return {
    url: `http://localhost:${own}`,
    loseNext: (path: string) => {
      lost = path;
    },
  };
}
