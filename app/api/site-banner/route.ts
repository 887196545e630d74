import { createOperationHandlers } from "@/lib/http/handler";
import { operations } from "@/lib/http/operations";
import { ageOfSiteBanner, readSiteBanner } from "@/lib/site-banner";

export const { GET, HEAD, OPTIONS } = createOperationHandlers(
  operations.siteBanner,
  async () => ({ banner: await readSiteBanner() }),
  () => ["age", String(ageOfSiteBanner())],
);
