import { Service } from "@/tests/support/service";
import type { Experiment } from "./experiment";

const rounds = 8;

/** Two operators change different fields of one account at the same moment, each in a process of its own. */
export const operatorsAtOnce: Experiment = {
  name: "operators-at-once",
  async run(see) {
    const service = await Service.start({ SIGN_IN: "local" });
    let undone = 0;
    for (let round = 1; round <= rounds; round++) {
      const email = `ceo${round}@example.com`;
      await service.adminJson("account", "add", email, "--plan", "hobby");
      const set = (...fields: string[]) =>
        service.execute(["dist/admin/main.js", "account", "set", email, ...fields]);
      const both = await Promise.all([set("--plan", "licensed"), set("--assistant-limit", "7")]);
      const { plan, assistantLimit } = await service.adminJson("account", "show", email);
      const isSaid = both.every(({ code }) => code === 0);
      if (isSaid && (plan !== "licensed" || assistantLimit !== 7)) undone++;
    }
    await service.stop();
    see({
      what: `${rounds} times two changes of one account`,
      figure: `${undone} acknowledged and undone (0)`,
      holds: undone === 0,
    });
  },
};
