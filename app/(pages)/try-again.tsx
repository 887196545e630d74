type TryAgainProps = {
  /** The address of the page that could not be shown. */
  at: string;
};

/** Reloads a page that could not be shown, with and without JavaScript. */
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
