import { pages } from "@/lib/http/pages";
import { htmlPage } from "../html-page";
import { Mark } from "../mark";

/** The 404 page: every unknown address is rewritten to it. */
export const GET = htmlPage(pages.nothingHere, () => ({
  title: "Nothing here",
  status: 404,
  content: (
    <div className="narrow nowhere">
      <Mark />
      <h1>Nothing here</h1>
      <p>There is no page at this address. It may have been typed with a slip, or it has moved.</p>
      <ul>
        <li>
          <a href={pages.front.path}>The front page</a>: what this is
        </li>
        <li>
          <a href={pages.quickStart.path}>The documents</a>: everything a program can ask
        </li>
        <li>
          <a href={pages.search.path}>Search the documents</a>
        </li>
      </ul>
    </div>
  ),
}));
