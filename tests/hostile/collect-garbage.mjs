import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/* Loaded before the service: collects all garbage when it is told to, so that what memory it holds can be compared. */
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");
process.on("SIGUSR2", () => collect());
