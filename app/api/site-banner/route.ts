import { createOperationHandlers } from "@/lib/http/handler";
import { operations } from "@/lib/http/operations";
import { readSiteBanner } from "@/lib/site-banner";

export const { GET, HEAD, OPTIONS } = createOperationHandlers(operations.siteBanner, async () => ({
  banner: await readSiteBanner(),
}));
