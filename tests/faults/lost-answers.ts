import { Browser } from "@/tests/support/browser";
import { besideDatabaseUrl } from "@/tests/support/databases";
import { createFolder } from "@/tests/support/leash";
import { renewFiveAtOnce, renewThroughFaults } from "@/tests/support/lost-answers";
import { openidClient } from "@/tests/support/oauth-libraries";
import { answerApp } from "@/tests/support/owner";
import { Service } from "@/tests/support/service";
import type { Experiment, World } from "./experiment";

const email = "ceo@example.com";
const apps = 4;
const renewals = 250; // of each app: with the lost answers fewer than a session may renew in ten minutes

/** Every third answer of the authorization server is lost, and five processes renew at once, at two instances. */
export const lostAnswers: Experiment[] = [
  make("lost-embedded", async () => ({ DATA_DIR: createFolder() })),
  make("lost-postgres", async (world) => ({
    ...besideDatabaseUrl,
    DATABASE_URL: await world.createDatabase(),
    DATA_DIR: createFolder(),
  })),
];

function make(name: string, prepare: (world: World) => Promise<Record<string, string>>): Experiment {
  return {
    name,
    async run(see, world) {
      const environment = { APP_URL: "http://localhost:3000", SIGN_IN: "local", ...(await prepare(world)) };
      const services = [await Service.start(environment), await Service.start(environment)] as const;
      await services[0].adminJson("account", "add", email, "--plan", "licensed");
      const app = await openidClient.makeApp(services[0]);
      const owner = await Browser.signIn(services[0], email);
      const connect = async () => {
        const { address, redeem } = await app.ask();
        const tokens = await redeem(new URL(await answerApp(owner, services[0], address.href)));
        return tokens.refresh_token ?? "";
      };

      const five = await renewFiveAtOnce(services, await connect(), 100);
      see({
        what: "five processes at once, 100 rounds",
        figure: `${JSON.stringify(five.statuses)} (500 answers with 200)`,
        holds: five.statuses[200] === 500,
      });
      const sums = { arrived: 0, dropped: 0, cut: 0, late: 0, refused: 0 };
      for (let n = 0; n < apps; n++) {
        const { answers } = await renewThroughFaults(services, await connect(), renewals);
        for (const key of Object.keys(sums) as (keyof typeof sums)[]) sums[key] += answers[key];
      }
      const lost = sums.dropped + sums.cut + sums.late;
      see({
        what: `${apps * renewals} renewals with every third answer lost`,
        figure: `${sums.arrived} arrived, ${lost} were lost, ${sums.refused} refused (0)`,
        holds: sums.arrived === apps * renewals && sums.refused === 0,
      });
      const sessions = await services[0].adminJson<{ kind: string }[]>("session", "list", email);
      const alive = sessions.filter(({ kind }) => kind === "app").length;
      see({
        what: "approvals that are left",
        figure: `${alive} (${apps + 1})`,
        holds: alive === apps + 1,
      });
      for (const service of services) await service.kill();
    },
  };
}
