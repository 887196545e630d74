import { reservePort } from "@/tests/support/port";
import { type Environment, Service } from "@/tests/support/service";
import { startSmtpInbox } from "@/tests/support/smtp-inbox";
import { startHaproxy } from "./haproxy";

/** Starts three instances behind haproxy, with local sign-in and mail by SMTP. */
export async function startInstances(more: Environment, folder = ".") {
  const [balancerPort, inbox] = [await reservePort(), await startSmtpInbox()];
  const environment = {
    ...more,
    APP_URL: `http://localhost:${balancerPort}`,
    APP_SECRET: "s".repeat(32),
    SIGN_IN: "local",
    SMTP_URL: `smtp://127.0.0.1:${inbox.port}`,
    EMAIL_FROM: "office@example.com",
    TRUSTED_PROXY_HOPS: "1",
    RATE_LIMIT_HEALTH: "100000",
  };
  const start = async () => {
    const METRICS_PORT = String(await reservePort());
    return Service.start({ ...environment, METRICS_PORT }, { logTo: "file", folder });
  };
  const instances = await Promise.all([start(), start(), start()]);
  startHaproxy(
    balancerPort,
    instances.map(({ port }) => port),
  );
  /** The service as clients reach it. */
  const front = await Service.make({ ...environment, PORT: String(balancerPort) });
  return { balancerPort, inbox, instances, front };
}
