import type { Metadata } from "next";
import type { ReactNode } from "react";
import "./pages.css";

export const metadata: Metadata = {
  title: { default: "Corner Office", template: "%s · Corner Office" },
  icons: "/favicon.svg",
  description: "A person runs a company of AI assistants. This is its public HTTP API.",
};

export default function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <body>
        <header>
          <nav aria-label="Main">
            <a href="/">Corner Office</a>
            <a href="/docs/api/errors">Error codes</a>
            <a href="/docs/api/policy">Versions and retirement</a>
          </nav>
        </header>
        <main>{children}</main>
      </body>
    </html>
  );
}
