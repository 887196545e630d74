import { publish } from "@/lib/docs/publication-handler";
import { publications } from "@/lib/http/pages";
import { protectedResourceMetadata } from "@/lib/oauth/metadata";

/** The metadata of the whole service as one resource, for clients that only look here (RFC 9728 §3.1). */
export const GET = publish(publications.wholeResource, () => ({
  type: "application/json",
  body: JSON.stringify(protectedResourceMetadata("")),
}));
