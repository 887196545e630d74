import { CopyLine } from "./home/access/copy-line";
import { Reference } from "./problem";

type TryAgainProps = {
  at: string;
  failed: string;
  /** Whether the page has the script that copies. */
  copies?: true;
};

/** Reloads the page at an address that could not be shown, with and without JavaScript, and says which request failed. */
export function TryAgain({ at, failed, copies }: TryAgainProps) {
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
      {copies ? (
        <>
          <p className="quiet">If it happens again, quote this reference:</p>
          <CopyLine text={failed} label="the reference" />
        </>
      ) : (
        <p className="quiet">
          <Reference id={failed} />
        </p>
      )}
    </>
  );
}
