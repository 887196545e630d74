import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Body, HeadLinks } from "./frame";

export const metadata: Metadata = {
  title: { default: "Corner Office", template: "%s · Corner Office" },
  robots: { index: false },
};

/** What is around the pages that Next renders: those with components that live in the browser. */
export default function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <head>
        <HeadLinks />
      </head>
      <Body>{children}</Body>
    </html>
  );
}
