import type { Session } from "@/lib/auth/sessions/session";
import { forms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";
import { PostForm } from "../post-form";
import type { SignInMethods } from "./access/read-access";

type PasskeyOfferProps = { accountId: string; ways: SignInMethods; session: Session };

/** Offers a passkey once after a sign-in by code, in a browser that could hold one, until the owner puts it away. */
export function PasskeyOffer({ accountId, ways, session }: PasskeyOfferProps) {
  const { begun_at_ms, confirmed_by } = session;
  const hasAdded = ways.passkeys.some(({ added_at_ms }) => added_at_ms >= (begun_at_ms ?? 0));
  if (confirmed_by !== "code" || ways.hasDeclined || hasAdded) return null;
  return (
    <div data-needs="own authenticator" hidden>
      <p className="quiet">
        Sign in next time with your fingerprint, face or PIN:{" "}
        <a href={`${pages.access.path}#ways`}>add a passkey</a>.
      </p>
      <PostForm action={forms.declinePasskeys.path} hidden={{ account: accountId }}>
        <button type="submit" className="linklike">
          Don’t offer it again
        </button>
      </PostForm>
    </div>
  );
}
