import { proofPlaces } from "@/lib/auth/local-sign-in";
import { toUserHandle } from "@/lib/auth/passkeys/passkey-ceremony";
import { maxNameCharacters, maxPasskeys, ownersSite, type Passkey } from "@/lib/auth/passkeys/passkeys";
import { isRecentlyConfirmed } from "@/lib/auth/sessions/owner-confirmation";
import type { Session } from "@/lib/auth/sessions/session";
import { forms } from "@/lib/http/register/forms";
import { outageSince } from "@/lib/runtime/dependency-outages";
import { Clock } from "../../clock";
import { PasskeyButton } from "../../passkey-button";
import { PostButton, PostForm } from "../../post-form";
import type { OwnVisit } from "../owner-page";
import type { SignInMethods } from "./read-access";

/** A visit, with the owner's ways to sign in and the session of this browser, if they can be read. */
export type ProvingVisit = OwnVisit & { ways: SignInMethods | undefined; own: Session | undefined };

/** The account's passkeys, with forms that rename and remove them, and a button that adds one. */
export function SignInMethodList({ account, query, ways, own, nowMs }: ProvingVisit) {
  const isConfirmed = isRecentlyConfirmed(own?.confirmed_at_ms, nowMs);
  const { passkeys } = ways ?? { passkeys: [] };
  return (
    <section id="ways" className="card" data-accepted={ways && acceptedOf(account.id, passkeys)}>
      {query.removed !== undefined && <p role="status">The passkey was removed.</p>}
      {query.renamed !== undefined && <p role="status">The passkey was renamed.</p>}
      <h2>Ways to sign in</h2>
      <p className="quiet">A code by email always works. A passkey is faster: fingerprint, face or PIN.</p>
      {!ways && (
        <p className="quiet">
          We cannot show your passkeys at the moment. Nothing is lost. Reload this page in a moment.
        </p>
      )}
      {passkeys.length > 0 && (
        <ul className="rows">
          {passkeys.map((passkey) => (
            <PasskeyRow key={passkey.id} passkey={passkey} accountId={account.id} isConfirmed={isConfirmed} />
          ))}
        </ul>
      )}
      {ways && !isConfirmed && <Confirm account={account} ways={ways} place="ways" />}
      {ways && isConfirmed && passkeys.length < maxPasskeys && (
        <PasskeyButton words="Add a passkey" addsTo={account.id} />
      )}
      {passkeys.length >= maxPasskeys && (
        <p className="quiet">You have {maxPasskeys} passkeys. To add another one, remove one first.</p>
      )}
    </section>
  );
}

/**
 * The passkeys that work here, for the browser, which may delete all others: `AllAcceptedCredentialsOptions` of WebAuthn
 * §5.1.10. `undefined` while the store is only read, which may be a copy without the newest ones.
 */
function acceptedOf(accountId: string, passkeys: Passkey[]): string | undefined {
  if (outageSince("writes") !== undefined) return undefined;
  const { id: rpId } = ownersSite();
  const accepted = passkeys.filter((passkey) => passkey.rp_id === rpId);
  const allAcceptedCredentialIds = accepted.map(({ credential_id }) => credential_id);
  return JSON.stringify({ rpId, userId: toUserHandle(accountId), allAcceptedCredentialIds });
}

type PasskeyRowProps = { passkey: Passkey; accountId: string; isConfirmed: boolean };

function PasskeyRow({ passkey, accountId, isConfirmed }: PasskeyRowProps) {
  const { id, name, rp_id, added_at_ms, last_used_at_ms } = passkey;
  const hidden = { account: accountId, passkey: id };
  return (
    <li data-key={id}>
      <div>
        <strong>{name}</strong>
        <p className="quiet">
          Added <Clock atMs={added_at_ms} shows="day and time" />,{" "}
          {last_used_at_ms === null ? (
            "not used yet"
          ) : (
            <>
              last used <Clock atMs={last_used_at_ms} shows="day and time" />
            </>
          )}
          {rp_id !== ownersSite().id && `. It was made for ${rp_id} and works only there`}
        </p>
      </div>
      <details className="rename">
        <summary aria-label={`Rename “${name}”`}>Rename</summary>
        <PostForm action={forms.renamePasskey.path} hidden={hidden} className="actions">
          <input
            name="name"
            aria-label={`New name of “${name}”`}
            defaultValue={name}
            maxLength={maxNameCharacters}
            autoComplete="off"
            required
          />
          <button type="submit" className="plain">
            Save
          </button>
        </PostForm>
      </details>
      {isConfirmed && (
        <PostButton
          action={forms.removePasskey.path}
          hidden={hidden}
          label={`Remove “${name}”`}
          look="danger small"
        >
          Remove
        </PostButton>
      )}
    </li>
  );
}

const purposes = {
  ways: "add or remove a passkey",
  email: "change your email",
  leave: "delete your account",
  automatic: "turn it on",
};

type ConfirmProps = Pick<ProvingVisit, "account" | "ways"> & { place: keyof typeof proofPlaces };

/** Asks the owner to prove again who they are, before they do what this place is for. A code leads back to it. */
export function Confirm({ account: { email }, ways, place }: ConfirmProps) {
  return (
    <>
      <p>To {purposes[place]}, confirm that it is you:</p>
      <div className="actions">
        {ways && ways.passkeys.length > 0 && <PasskeyButton words="Use a passkey" />}
        <PostButton action={forms.sendCode.path} hidden={{ back: proofPlaces[place], email }}>
          Send me a code
        </PostButton>
      </div>
    </>
  );
}
