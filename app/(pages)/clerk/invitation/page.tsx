import type { Metadata } from "next";
import { Clerk } from "../../clerk";
import { AboutEmail } from "../../email-form";
import { SiteBanner } from "../../site-banner";

export const metadata: Metadata = { title: "Your invitation" };

/** `/invitation` under Clerk sign-in. */
export default function InvitationWithClerk() {
  return (
    <div className="narrow">
      <SiteBanner isPublic />
      <h1>Welcome to Corner Office</h1>
      <Clerk part="sign-up" />
      <p className="quiet">
        <AboutEmail />
      </p>
    </div>
  );
}
