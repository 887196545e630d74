"use client";

import { ClerkFailed, ClerkLoading, ClerkProvider, SignIn, SignUp, UserButton } from "@clerk/nextjs";
import { pages } from "@/lib/http/pages";

const parts = {
  "sign-in": () => <SignIn routing="hash" />,
  /** Accepts the invitation whose ticket Clerk's link put into the address. */
  "sign-up": () => <SignUp routing="hash" />,
  "user-button": () => <UserButton />,
};

export type ClerkPartProps = {
  part: keyof typeof parts;
  publishableKey: string;
  nonce: string | undefined;
  pathAfterSignIn: string;
};

/** One of Clerk's components, inside Clerk's provider. */
export default function ClerkPart({ part, publishableKey, nonce, pathAfterSignIn }: ClerkPartProps) {
  const Part = parts[part];
  return (
    <ClerkProvider
      publishableKey={publishableKey}
      signInUrl={pages.signIn.path}
      signUpUrl={pages.invitation.path}
      waitlistUrl={pages.waitlist.path}
      signInForceRedirectUrl={pathAfterSignIn}
      signUpForceRedirectUrl={pathAfterSignIn}
      afterSignOutUrl={pages.front.path}
      telemetry={false}
      {...(nonce ? { nonce } : {})}
    >
      {part !== "user-button" && (
        <ClerkLoading>
          <p className="quiet" role="status">
            Loading…
          </p>
        </ClerkLoading>
      )}
      <Part />
      <ClerkFailed>
        <p className="problem" role="alert">
          The sign-in service cannot be reached. Reload this page in a moment.
        </p>
      </ClerkFailed>
      <noscript>
        <p className="problem">Signing in needs JavaScript.</p>
      </noscript>
    </ClerkProvider>
  );
}
