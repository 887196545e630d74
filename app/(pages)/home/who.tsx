import { actions } from "@/lib/http/pages";
import { Clerk } from "../clerk";

/** The signed-in email and the sign-out button. */
export function Who({ email, isLocal }: { email: string | undefined; isLocal: boolean }) {
  return (
    <div className="who">
      <p className="quiet">{email}</p>
      {isLocal ? (
        <form method="post" action={actions.signOut.path}>
          <button type="submit" className="plain">
            Sign out
          </button>
        </form>
      ) : (
        <Clerk part="UserButton" />
      )}
    </div>
  );
}
