import { ClerkFailed, ClerkLoading, ClerkProvider, SignIn, SignUp, UserButton } from "@clerk/nextjs";
import { headers } from "next/headers";
import type { ReactNode } from "react";
import { settings } from "@/lib/settings";

/** What Clerk's components need around them. Its script is loaded on the pages that use this, and on no other. */
export async function ClerkFrame({ children }: { children: ReactNode }) {
  const { signIn } = settings();
  if (signIn.kind !== "clerk") return null;
  const nonce = (await headers()).get("x-nonce");
  return (
    <ClerkProvider
      publishableKey={signIn.publishableKey}
      signInUrl="/sign-in"
      signUpUrl="/invitation"
      waitlistUrl="/waitlist"
      signInForceRedirectUrl="/home"
      signUpForceRedirectUrl="/home"
      afterSignOutUrl="/"
      telemetry={false}
      {...(nonce ? { nonce } : {})}
    >
      {children}
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

export function ClerkSignIn() {
  return (
    <>
      <Loading />
      <SignIn routing="hash" />
    </>
  );
}

/** Takes up the invitation whose ticket Clerk's link put into the address. */
export function ClerkSignUp() {
  return (
    <>
      <Loading />
      <SignUp routing="hash" />
    </>
  );
}

export function ClerkUserButton() {
  return <UserButton />;
}

function Loading() {
  return (
    <ClerkLoading>
      <p className="quiet" role="status">
        Loading…
      </p>
    </ClerkLoading>
  );
}
