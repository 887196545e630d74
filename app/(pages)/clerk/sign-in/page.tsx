import type { Metadata } from "next";
import { pages } from "@/lib/http/pages";
import { Clerk } from "../../clerk";
import { AboutEmail } from "../../email-form";
import { SiteBanner } from "../../site-banner";

export const metadata: Metadata = { title: "Sign in", robots: { index: pages.signIn.isCrawled } };

/** `/sign-in` under Clerk sign-in. */
export default function SignInWithClerk() {
  return (
    <div className="narrow">
      <SiteBanner isPublic />
      <h1>Sign in</h1>
      <Clerk part="sign-in" />
      <p className="quiet">
        <AboutEmail />
      </p>
    </div>
  );
}
