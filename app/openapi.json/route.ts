import { openApiDocument } from "@/lib/docs/openapi";
import { publish } from "@/lib/docs/publication-handler";
import { publications } from "@/lib/http/register/publications";

export const { GET, HEAD, OPTIONS } = publish(publications.openApi, () => ({ body: openApiDocument() }));
