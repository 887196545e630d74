import { openApiDocument } from "@/lib/docs/openapi";
import { publish } from "@/lib/docs/publication-handler";
import { publications } from "@/lib/http/pages";

/** The API description. It names our address, so it is generated at run time, not at build time. */
export const GET = publish(publications.openApi, () => ({
  type: "application/json",
  body: JSON.stringify(openApiDocument()),
}));
