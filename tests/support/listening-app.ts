import { serve } from "@/tests/support/loopback";
import { makeApp, type Request, type Tokens } from "@/tests/support/oauth-libraries";
import type { Service } from "@/tests/support/service";

/** An app on this computer that requests authorization, and waits for the response on its own port. */
export async function startApp(service: Service) {
  const app = await makeApp(service);
  let tell: (back: URL) => void = () => {};
  const answered = new Promise<URL>((resolve) => {
    tell = resolve;
  });
  const { url, stop } = await serve((incoming, outgoing) => {
    outgoing.setHeader("content-type", "text/html; charset=utf-8").end("<h1>You can close this page</h1>");
    const back = new URL(incoming.url ?? "", url);
    if (back.pathname === "/callback") tell(back);
  });
  const request: Request = await app.ask({ redirect_uri: `${url}/callback` });
  return {
    /** The authorization URL that it opens in the owner's browser. */
    address: request.address.href,
    /** Returns its tokens once the owner has answered. Throws the error response of a refusal. */
    async finish(): Promise<Tokens> {
      const back = await answered;
      await stop();
      return request.redeem(back);
    },
  };
}
