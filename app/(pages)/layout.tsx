import type { Metadata } from "next";
import { headers } from "next/headers";
import type { ReactNode } from "react";
import { hasSessionCookie } from "@/lib/auth/session-hint";
import { Body, HeadLinks } from "./frame";

export const metadata: Metadata = {
  title: { default: "Corner Office", template: "%s · Corner Office" },
  robots: { index: false },
};

/** The layout of the pages that Next renders: those with client components. */
export default async function Layout({ children }: { children: ReactNode }) {
  const isSignedIn = hasSessionCookie(await headers());
  return (
    <html lang="en">
      <head>
        <HeadLinks />
      </head>
      <Body isSignedIn={isSignedIn}>{children}</Body>
    </html>
  );
}
