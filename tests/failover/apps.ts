import { setTimeout as sleep } from "node:timers/promises";
import type { Browser } from "@/tests/support/browser";
import { openidClient } from "@/tests/support/oauth-libraries";
import { answerApp } from "@/tests/support/owner";
import type { Caller, World } from "./caller";

const apps = 6;
const pauseMs = 1500;

/** Connected apps, which renew their tokens and read the account with each new one. */
export async function startApps({ front, record }: World, owner: Browser): Promise<Caller> {
  await owner.open("/sign-in/renew");
  const library = await openidClient.makeApp(front);
  const dead: string[] = [];
  const connect = async () => {
    const { address, redeem } = await library.ask();
    const { refresh_token = "" } = await redeem(new URL(await answerApp(owner, front, address.href)));
    return refresh_token;
  };

  const work = async (app: number, first: string) => {
    for (let refresh_token = first; !record.isStopped; ) {
      const fields = { grant_type: "refresh_token", client_id: "native", refresh_token };
      const send = () => front.submit("/oauth/token", fields);
      const answer = await record.untilDone("refresh", send, ({ status }) => status === 200);
      if (!answer) break;
      record.acknowledge("refresh");
      const tokens = JSON.parse(answer.text);
      refresh_token = tokens.refresh_token;
      const headers = { authorization: `Bearer ${tokens.access_token}` };
      await record.once(
        "read",
        () => front.ask("/api/entitlement", { headers }),
        ({ status }) => status === 200,
      );
      await sleep(pauseMs);
    }
    if (!record.isStopped) dead.push(`the app ${app + 1} was refused`);
  };

  const tokens: string[] = [];
  for (let app = 0; app < apps; app++) tokens.push(await connect());
  return { stopped: Promise.all(tokens.map((token, app) => work(app, token))), findLost: async () => dead };
}
