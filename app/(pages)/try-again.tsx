import { Reference } from "./problem";

/** Reloads the page at an address that could not be shown, with and without JavaScript, and says which request failed. */
export function TryAgain({ at, failed }: { at: string; failed: string }) {
  return (
    <>
      <noscript>
        <meta httpEquiv="refresh" content={`5; url=${at}`} />
      </noscript>
      <p>
        <a className="button" href={at} data-tries-again="">
          Try again now
        </a>
      </p>
      <p className="quiet">
        <Reference id={failed} />
      </p>
    </>
  );
}
