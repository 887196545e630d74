type TryAgainProps = {
  /** The address of the page that could not be shown. */
  at: string;
};

/** Has a page that could not be shown come back by itself, with JavaScript and without. */
export function TryAgain({ at }: TryAgainProps) {
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
