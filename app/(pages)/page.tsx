import type { Metadata } from "next";
import { connection } from "next/server";
import { operations } from "@/lib/api/operations";
import { settings } from "@/lib/settings/settings";
import { SiteBanner } from "./site-banner";

/** The social card's address has to be whole, and only a page rendered now knows ours. */
export function generateMetadata(): Metadata {
  return {
    metadataBase: new URL(settings().appUrl),
    openGraph: { type: "website", url: "/", siteName: "Corner Office", images: "/social-card.png" },
    twitter: { card: "summary_large_image" },
  };
}

export default async function FrontPage() {
  await connection();
  return (
    <>
      <SiteBanner isPublic />
      <h1>Run a company of AI assistants</h1>
      <p className="lead">
        You are the CEO: assistants work in your own apps, and nothing is sent, published, deployed or charged
        before you approve it there. This service tells those apps whether the company may run and what
        credits it has.
      </p>
      <p className="actions">
        <a className="button" href="/waitlist">
          Join the waitlist
        </a>
        <a className="button plain" href="/sign-in">
          Sign in
        </a>
      </p>
      <h2>The public API</h2>
      <p>
        Five operations for desktop apps, phone apps, monitors, mail clients and programs.{" "}
        <a href="/docs">Read the documents</a>
      </p>
      <table>
        <thead>
          <tr>
            <th scope="col">Operation</th>
            <th scope="col">Purpose</th>
          </tr>
        </thead>
        <tbody>
          {Object.values(operations).map(({ path, methods, summary }) => (
            <tr key={path}>
              <td>
                <code>
                  {methods[0]} {path}
                </code>
              </td>
              <td>{summary}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
