import { publications } from "@/lib/api/pages";
import { authorizationServerMetadata } from "@/lib/connect/metadata";
import { publish } from "@/lib/docs/publish";

/** Where a client that knows only our address finds the authorization server (RFC 8414). */
export const GET = publish(publications.authorizationServer, () => ({
  type: "application/json",
  body: JSON.stringify(authorizationServerMetadata()),
}));
