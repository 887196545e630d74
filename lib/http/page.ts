import type { Call } from "@/lib/http/call";
import type { CheckOptions } from "@/lib/http/checks/check";
import type { ApiError } from "@/lib/http/errors";
import { handleEndpoint, type RouteHandler } from "@/lib/http/handler";
import type { ResponseParts } from "@/lib/http/response";
import type { Route } from "@/lib/http/route";

/** What a page shows, or another answer in its place. */
type Shown<Content> = Content | ResponseParts | Promise<Content | ResponseParts>;

/** Finds what a page shows. */
export type Show<Content, Who = undefined> = (call: Call, who: Who) => Shown<Content>;

/** How the pages of a site look. */
export type PageOptions<Content, Who = undefined, Page extends Route = Route> = Pick<
  CheckOptions<Who>,
  "identify" | "hasProof"
> & {
  /** Lays its content out in the frame of its site. */
  lay: (content: Content, call: Call, page: Page) => Promise<ResponseParts>;
  /** Says in its place why it cannot be shown. */
  explain: (error: ApiError, call: Call, who: Who | undefined) => Shown<Content>;
};

/** Creates the handler of a page. */
export function handlePage<Content extends { content: unknown }, Who, Page extends Route>(
  page: Page,
  { lay, explain, ...checks }: PageOptions<Content, Who, Page>,
  show: Show<Content, Who>,
): RouteHandler {
  const answer = (shown: Content | ResponseParts, call: Call) =>
    "content" in shown ? lay(shown, call, page) : shown;
  const options = {
    ...checks,
    explain: async (error: ApiError, call: Call, who: Who | undefined) =>
      answer(await explain(error, call, who), call),
  };
  return handleEndpoint<Who>(page, options, async (call, who) => answer(await show(call, who), call));
}
