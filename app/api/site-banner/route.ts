import { endpoint } from "@/lib/api/endpoint";
import { operations } from "@/lib/api/operations";
import { readSiteBanner } from "@/lib/site-banner";

export const { GET, HEAD, OPTIONS } = endpoint(operations.siteBanner, async () => ({
  banner: await readSiteBanner(),
}));
