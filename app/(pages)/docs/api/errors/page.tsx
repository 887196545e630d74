import type { Metadata } from "next";
import { type CatalogueEntry, errorCatalogue } from "@/lib/api/errors";

export const metadata: Metadata = { title: "Error codes" };

/** One anchor a code: where `error.docs` points. */
export default function ErrorCodes() {
  return (
    <>
      <h1>Error codes</h1>
      <p>
        Every failure is a JSON object <code>error</code> with a stable <code>code</code> to branch on, a{" "}
        <code>message</code> that says what went wrong, a <code>hint</code> that says what to do next, and{" "}
        <code>docs</code>, which points here. The list is complete for version 1.
      </p>
      {Object.entries<CatalogueEntry>(errorCatalogue).map(([code, { status, also, message, hint }]) => (
        <section key={code} id={code}>
          <h2>
            <code>{code}</code>
          </h2>
          <dl>
            <dt>Status</dt>
            <dd>
              {status ? [status, also].filter(Boolean).join("; ") : "none: kept for private workspace routes"}
            </dd>
            <dt>Meaning</dt>
            <dd>{message}</dd>
            <dt>What to do</dt>
            <dd>{hint}</dd>
          </dl>
        </section>
      ))}
    </>
  );
}
