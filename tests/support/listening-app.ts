import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { openidClient, type Request, type Tokens } from "@/tests/support/oauth-libraries";
import type { Service } from "@/tests/support/service";

/** An app on this computer that requests authorization, and waits for the response on its own port. */
export async function startApp(service: Service) {
  const app = await openidClient.makeApp(service);
  let tell: (back: URL) => void = () => {};
  const answered = new Promise<URL>((resolve) => {
    tell = resolve;
  });
  const server = createServer((incoming, outgoing) => {
    outgoing.setHeader("content-type", "text/html; charset=utf-8").end("<h1>You can close this page</h1>");
    const back = new URL(incoming.url ?? "", origin);
    if (back.pathname === "/callback") tell(back);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const request: Request = await app.ask({ redirect_uri: `${origin}/callback` });
  return {
    /** The authorization URL that it opens in the owner's browser. */
    address: request.address.href,
    /** Returns its tokens once the owner has answered. Throws the error response of a refusal. */
    async finish(): Promise<Tokens> {
      const back = await answered;
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      return request.redeem(back);
    },
  };
}
