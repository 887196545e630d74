import { openApiDocument } from "@/lib/docs/openapi";
import { publish } from "@/lib/docs/publication-handler";
import { toPlatform } from "@/lib/http/platform";
import { publications } from "@/lib/http/register/publications";

export const { GET, HEAD, OPTIONS } = toPlatform(
  publish(publications.openApi, () => ({ body: openApiDocument() })),
);
