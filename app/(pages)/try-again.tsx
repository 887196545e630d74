"use client";

import { useEffect } from "react";

const againAfterSeconds = 5;

/** Has a page that could not be shown come back by itself, with JavaScript and without. */
export function TryAgain({ at }: { at: string }) {
  useEffect(() => {
    // Only to a service that answers: where the browser shows its own error page, nothing comes back.
    const tryAgain = () =>
      fetch(at, { method: "HEAD" })
        .then(() => location.replace(at))
        .catch(() => {});
    const trying = setInterval(tryAgain, againAfterSeconds * 1000);
    return () => clearInterval(trying);
  }, [at]);

  return (
    <>
      <noscript>
        <meta httpEquiv="refresh" content={`${againAfterSeconds}; url=${at}`} />
      </noscript>
      <p>
        <a href={at}>Try again now</a>
      </p>
    </>
  );
}
