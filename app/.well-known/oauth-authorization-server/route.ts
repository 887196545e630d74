import { publish } from "@/lib/docs/publication-handler";
import { publications } from "@/lib/http/pages";
import { authorizationServerMetadata } from "@/lib/oauth/metadata";

/** The authorization server metadata (RFC 8414). */
export const GET = publish(
  publications.authorizationServer,
  () => ({
    type: "application/json",
    body: JSON.stringify(authorizationServerMetadata()),
  }),
  { freshForMs: 60_000 },
);
