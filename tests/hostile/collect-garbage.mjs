import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/* Preloaded into the service: collects all garbage on request, so that memory can be compared. */
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");
process.on("SIGUSR2", () => collect());
