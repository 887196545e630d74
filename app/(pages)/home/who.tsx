import { actions } from "@/lib/http/pages";
import { Clerk } from "../clerk";

/** Who is signed in, and the way out. */
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
        <Clerk part="user-button" />
      )}
    </div>
  );
}
