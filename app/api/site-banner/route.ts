import { handleOperation } from "@/lib/http/handler";
import { operations } from "@/lib/http/register/operations";
import { ageOfSiteBanner, readSiteBanner } from "@/lib/site-banner";

export const { GET, HEAD, OPTIONS } = handleOperation(operations.siteBanner, {}, async () => ({
  status: 200,
  body: { banner: await readSiteBanner() },
  headers: ["age", String(ageOfSiteBanner())],
}));
