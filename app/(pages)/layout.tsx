import type { Metadata } from "next";
import type { ReactNode } from "react";
import "./pages.css";

export const metadata: Metadata = {
  title: { default: "Corner Office", template: "%s · Corner Office" },
  icons: {
    icon: [
      { url: "/favicon.ico", sizes: "32x32" },
      { url: "/favicon.svg", type: "image/svg+xml" },
    ],
    apple: "/apple-touch-icon.png",
  },
  description: "A person runs a company of AI assistants. This is its public HTTP API.",
};

export default function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <body>
        <a className="skip" href="#main">
          Skip to the content
        </a>
        <header>
          <nav aria-label="Main">
            <a className="brand" href="/">
              Corner Office
            </a>
            <a href="/docs">Documents</a>
            <a href="/sign-in">Sign in</a>
          </nav>
        </header>
        <main id="main">{children}</main>
      </body>
    </html>
  );
}
