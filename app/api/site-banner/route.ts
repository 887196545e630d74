import { handleOperation } from "@/lib/http/handler";
import { toPlatform } from "@/lib/http/platform";
import { operations } from "@/lib/http/register/operations";
import { ageOfSiteBanner, readSiteBanner } from "@/lib/site-banner";

export const { GET, HEAD, OPTIONS } = toPlatform(
  handleOperation(operations.siteBanner, {}, async () => ({
    status: 200,
    body: { banner: await readSiteBanner() },
    headers: ["age", String(ageOfSiteBanner())],
  })),
);
