import { existsSync, rmSync } from "node:fs";
import { Service } from "@/tests/support/service";
import type { Experiment } from "./experiment";

const joins = 200;

/** The data folder is deleted under the running server, while people join the waitlist. */
export const storeTakenAway: Experiment = {
  name: "store-taken-away",
  async run(see) {
    const service = await Service.start({ SIGN_IN: "local" }, { logTo: "file" });
    let acknowledged = 0;
    for (let n = 0; n < joins; n++) {
      if (n === joins / 2) rmSync(service.dataDir, { recursive: true });
      const { headers } = await service.submit("/waitlist/join", { email: `reader${n}@example.com` });
      const isSaid = !String(headers.location).includes("problem");
      if (isSaid && n >= joins / 2) acknowledged++;
    }
    see({
      what: `${joins / 2} joins after rm -r DATA_DIR`,
      figure: `${acknowledged} acknowledged (0)`,
      holds: acknowledged === 0,
    });
    const isEmptyStore = existsSync(service.dataDir);
    see({
      what: "an empty store in its place",
      figure: isEmptyStore ? "was made" : "was not made",
      holds: !isEmptyStore,
    });
    await service.kill();
  },
};
