import { pages } from "@/lib/api/pages";
import { htmlPage } from "../html-page";

/** What every address shows that is no page: it is sent here. */
export const GET = htmlPage(pages.nothingHere, () => ({
  title: "Nothing here",
  status: 404,
  content: (
    <>
      <h1>Nothing here</h1>
      <p>
        There is no page at this address. <a href={pages.quickStart.path}>The documents</a> say what there is.
      </p>
    </>
  ),
}));
