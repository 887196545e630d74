import { handlerAt } from "../routes";

/** What has no folder of its own in `app/`: publications, documents, and the steps of sign-in, apps and owners. */
function answer(request: Request): Promise<Response> {
  return handlerAt(new URL(request.url).pathname)(request);
}

export { answer as GET, answer as OPTIONS, answer as POST };
