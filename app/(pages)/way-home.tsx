import { pages } from "@/lib/http/pages";

/** For a browser that looks signed in, in place of the waitlist. */
export function WayHome() {
  return (
    <p className="actions">
      <a className="button" href={pages.home.path}>
        Open your home page
      </a>
    </p>
  );
}
