import { publish } from "@/lib/docs/publication-handler";
import { publications } from "@/lib/http/pages";
import { openIdConfiguration } from "@/lib/oauth/metadata";

/** The authorization server metadata at the path of OpenID Connect Discovery (RFC 8414 §5). */
export const GET = publish(
  publications.openIdConfiguration,
  () => ({
    type: "application/json",
    body: JSON.stringify(openIdConfiguration()),
  }),
  { freshForMs: 60_000 },
);
