/** Reloads the page at an address that could not be shown, with and without JavaScript. */
export function TryAgain({ at }: { at: string }) {
  return (
    <>
      <noscript>
        <meta httpEquiv="refresh" content={`5; url=${at}`} />
      </noscript>
      <p>
        <a href={at} data-tries-again="">
          Try again now
        </a>
      </p>
    </>
  );
}
