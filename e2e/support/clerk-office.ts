import { test as base, expect } from "@playwright/test";
import { ClerkInstance } from "@/tests/support/clerk-instance";
import { reservePort } from "@/tests/support/port";
import { Service } from "@/tests/support/service";
import { ClerkFrontend } from "./clerk-frontend";
import { perWorker } from "./per-worker";

/** The service in Clerk mode, and a browser that reaches only it and the fake Clerk on loopback. */
export type Office = { clerk: ClerkInstance; frontend: ClerkFrontend; service: Service };

export const test = base.extend<{ onlyKnownHosts: undefined }, { office: Office }>({
  office: perWorker(async (use) => {
    const clerk = await ClerkInstance.start(ClerkFrontend.host);
    const frontend = await ClerkFrontend.start(clerk);
    const port = String(await reservePort());
    const APP_URL = `http://localhost:${port}`;
    const service = await Service.start({ ...clerk.environment, PORT: port, APP_URL });
    await use({ clerk, frontend, service });
    await service.stop();
    await frontend.stop();
    await clerk.stop();
  }),
  launchOptions: [
    async ({ launchOptions, office }, use) => {
      const clerkIsHere = `MAP ${ClerkFrontend.host}:443 127.0.0.1:${office.frontend.port}`;
      const rules = [clerkIsHere, "MAP * ~NOTFOUND", "EXCLUDE localhost", "EXCLUDE 127.0.0.1"].join(", ");
      await use({
        ...launchOptions,
        args: [...(launchOptions.args ?? []), `--host-resolver-rules=${rules}`],
      });
    },
    { scope: "worker" },
  ],
  ignoreHTTPSErrors: true,
  baseURL: async ({ office }, use) => use(office.service.url),
  onlyKnownHosts: [
    async ({ context, office }, use) => {
      const hosts = new Set<string>();
      context.on("request", (request) => {
        const { protocol, host } = new URL(request.url());
        if (protocol.startsWith("http")) hosts.add(host);
      });
      await use(undefined);
      const known = [new URL(office.service.url).host, ClerkFrontend.host];
      // An app on this computer receives its authorization response on loopback.
      const others = [...hosts].filter((host) => !known.includes(host) && !host.startsWith("127.0.0.1:"));
      expect(others).toEqual([]);
    },
    { auto: true },
  ],
});
