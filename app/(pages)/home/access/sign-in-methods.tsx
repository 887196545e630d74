import { proofPlaces } from "@/lib/auth/local-sign-in";
import { isRecentlyConfirmed } from "@/lib/auth/owner-confirmation";
import { toUserHandle } from "@/lib/auth/passkey-ceremony";
import {
  hasDeclinedPasskeys,
  listPasskeys,
  maxNameCharacters,
  maxPasskeys,
  type Passkey,
  relyingParty,
} from "@/lib/auth/passkeys";
import { actions } from "@/lib/http/pages";
import { Clock } from "../../clock";
import { PasskeyButton } from "../../passkey-button";
import { PostButton, PostForm } from "../../post-form";
import { readPart } from "../../read-part";

/** An account's passkeys, and whether its owner has put the offer of one away. */
export type SignInMethods = { passkeys: Passkey[]; hasDeclined: boolean };

/** Reads an account's passkeys; `undefined` if that fails. */
export function readSignInMethods(accountId: string): Promise<SignInMethods | undefined> {
  return readPart("passkeys could not be listed", async (db) => ({
    passkeys: await listPasskeys(db, accountId),
    hasDeclined: await hasDeclinedPasskeys(db, accountId),
  }));
}

type WaysToSignInProps = {
  account: { id: string; email: string };
  ways: SignInMethods | undefined;
  /** When the owner last proved in this browser who they are. */
  confirmedAtMs: number | null | undefined;
  done: keyof typeof doneWords | undefined;
  nowMs: number;
};

const doneWords = { removed: "The passkey was removed.", renamed: "The passkey was renamed." };

/** The account's passkeys, with forms that rename and remove them, and a button that adds one. */
export function SignInMethodList({ account, ways, confirmedAtMs, done, nowMs }: WaysToSignInProps) {
  const isConfirmed = isRecentlyConfirmed(confirmedAtMs, nowMs);
  const { passkeys } = ways ?? { passkeys: [] };
  return (
    <section id="ways" data-accepted={ways && JSON.stringify(acceptedOf(account.id, passkeys))}>
      {done && <p role="status">{doneWords[done]}</p>}
      <h2>Ways to sign in</h2>
      <p>
        A code by email always works. A passkey signs you in with your fingerprint, your face or your device’s
        PIN, without waiting for a mail.
      </p>
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
      {ways && !isConfirmed && (
        <Confirm
          email={account.email}
          hasPasskeys={passkeys.length > 0}
          to="add or remove a passkey"
          back={proofPlaces.ways}
        />
      )}
      {ways && isConfirmed && passkeys.length < maxPasskeys && (
        <PasskeyButton
          words="Add a passkey"
          options={actions.startPasskey}
          action={actions.addPasskey}
          addsTo={account.id}
        />
      )}
      {passkeys.length >= maxPasskeys && (
        <p className="quiet">You have {maxPasskeys} passkeys. To add another one, remove one first.</p>
      )}
    </section>
  );
}

/** The passkeys that work here, for the browser: `AllAcceptedCredentialsOptions` of WebAuthn §5.1.10. */
function acceptedOf(accountId: string, passkeys: Passkey[]) {
  const { id: rpId } = relyingParty();
  const accepted = passkeys.filter((passkey) => passkey.rpId === rpId);
  const allAcceptedCredentialIds = accepted.map(({ credentialId }) => credentialId);
  return { rpId, userId: toUserHandle(accountId), allAcceptedCredentialIds };
}

type PasskeyRowProps = { passkey: Passkey; accountId: string; isConfirmed: boolean };

function PasskeyRow({ passkey, accountId, isConfirmed }: PasskeyRowProps) {
  const { id, name, rpId, addedAtMs, lastUsedAtMs } = passkey;
  const hidden = { account: accountId, passkey: id };
  return (
    <li data-key={id}>
      <div>
        <strong>{name}</strong>
        <p className="quiet">
          Added <Clock atMs={addedAtMs} shows="day and time" />,{" "}
          {lastUsedAtMs === null ? (
            "not used yet"
          ) : (
            <>
              last used <Clock atMs={lastUsedAtMs} shows="day and time" />
            </>
          )}
          {rpId !== relyingParty().id && `. It was made for ${rpId} and works only there`}
        </p>
      </div>
      <details className="rename">
        <summary aria-label={`Rename “${name}”`}>Rename</summary>
        <PostForm action={actions.renamePasskey.path} hidden={hidden} className="actions">
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
        <PostButton action={actions.removePasskey.path} hidden={hidden} label={`Remove “${name}”`}>
          Remove
        </PostButton>
      )}
    </li>
  );
}

type ConfirmProps = {
  email: string;
  hasPasskeys: boolean;
  to: string;
  /** Where a code leads back to. */
  back: (typeof proofPlaces)[keyof typeof proofPlaces];
};

/** Asks the owner to prove again who they are, before they can do this. */
export function Confirm({ email, hasPasskeys, to, back }: ConfirmProps) {
  return (
    <>
      <p>To {to}, confirm that it is you:</p>
      <div className="actions">
        {hasPasskeys && (
          <PasskeyButton
            words="Use a passkey"
            options={actions.askForPasskey}
            action={actions.signInWithPasskey}
          />
        )}
        <PostButton action={actions.sendCode.path} hidden={{ back, email }}>
          Send me a code
        </PostButton>
      </div>
    </>
  );
}
