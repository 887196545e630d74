import { handlePage } from "@/lib/http/page";
import { pages } from "@/lib/http/register/pages";
import { wide } from "../html-page";

/** The 404 page: every unknown address is rewritten to it. */
export const { GET } = handlePage(pages.nothingHere, wide, () => ({
  title: "Page not found",
  status: 404,
  content: (
    <div className="narrow">
      <h1>Page not found</h1>
      <p>There is no page at this address. Check the address for typos.</p>
      <ul>
        <li>
          <a href={pages.front.path}>The front page</a>: what Corner Office is
        </li>
        <li>
          <a href={pages.quickStart.path}>The documents</a>: everything the API offers
        </li>
        <li>
          <a href={pages.search.path}>Search the documents</a>
        </li>
      </ul>
    </div>
  ),
}));
