import type { ReactNode } from "react";
import { Mark } from "./logo";

/** The header of every page, with a link that skips it. */
export function SiteHeader({ home, name, children }: { home: string; name: string; children: ReactNode }) {
  return (
    <>
      <a className="skip unseen" href="#main">
        Skip to content
      </a>
      <header className="site">
        <nav aria-label="Main">
          <a className="brand" href={home}>
            <Mark />
            {name}
          </a>
          {children}
        </nav>
      </header>
    </>
  );
}
