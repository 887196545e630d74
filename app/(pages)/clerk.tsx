import { settings } from "@/lib/config/settings";
import { pages } from "@/lib/http/register/pages";
import { AboutEmail } from "./email-form";

type ClerkProps = {
  part: "SignIn" | "SignUp" | "UserButton";
  leadsTo?: string;
};

/** The place of one of Clerk's components: the page's script mounts it there (`browser/clerk.ts`). */
export function Clerk({ part, leadsTo = pages.home.path }: ClerkProps) {
  const { signIn } = settings();
  if (signIn.kind !== "clerk") return null;
  const options = {
    signInUrl: pages.signIn.path,
    signUpUrl: pages.invitation.path,
    waitlistUrl: pages.waitlist.path,
    signInForceRedirectUrl: leadsTo,
    signUpForceRedirectUrl: leadsTo,
    afterSignOutUrl: pages.front.path,
  };
  return (
    <>
      <div
        id="clerk"
        data-kept=""
        data-part={part}
        data-key={signIn.publishableKey}
        data-host={signIn.issuer}
        data-options={JSON.stringify(options)}
      >
        {part !== "UserButton" && (
          <p className="quiet with-script" role="status">
            Loading…
          </p>
        )}
        <p className="problem" role="alert" data-unreachable="" hidden>
          The sign-in service cannot be reached. Reload this page in a moment.
        </p>
        <p className="problem" role="alert" data-circle="" hidden>
          You are signed in, but this site does not get your session: your browser blocks our cookies, or
          those of another site conflict with them. Delete the cookies of this site, then sign in again.
        </p>
        <noscript>
          <p className="problem">Signing in needs JavaScript.</p>
        </noscript>
      </div>
      {part !== "UserButton" && (
        <p className="quiet">
          <AboutEmail />
        </p>
      )}
    </>
  );
}
