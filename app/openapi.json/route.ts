import { openApiDocument } from "@/lib/docs/openapi";
import { publish } from "@/lib/docs/publication-handler";
import { publications } from "@/lib/http/pages";

/** The API description. It names our address, so it is made by the process that serves it. */
export const GET = publish(publications.openApi, () => ({
  type: "application/json",
  body: JSON.stringify(openApiDocument()),
}));
