import { closeSync, openSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Service } from "@/tests/support/service";
import type { Experiment } from "./experiment";

type Check = { what: string; works: boolean; detail: string };

/** A page in the middle of the store's file is overwritten, and an operator runs `check`. */
export const damagedStore: Experiment = {
  name: "damaged-store",
  async run(see) {
    const service = await Service.start({ SIGN_IN: "local" });
    for (let n = 0; n < 30; n++) await service.adminJson("account", "add", `reader${n}@example.com`);
    await service.stop();
    const file = join(service.dataDir, "store.sqlite");
    const store = new DatabaseSync(file);
    store.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    store.close();
    const opened = openSync(file, "r+");
    writeSync(opened, Buffer.alloc(8192, 0xa5), 0, 8192, Math.floor(statSync(file).size / 8192) * 4096);
    closeSync(opened);
    const { code, stdout } = await service.admin("--json", "check");
    const found = (JSON.parse(stdout) as Check[]).find(({ what }) => what === "store");
    see({
      what: "check on a damaged store",
      figure: `exit ${code} (1): ${found?.detail}`,
      holds: code === 1 && found?.works === false,
    });
  },
};
