import { settings } from "@/lib/config/settings";
import { pages } from "@/lib/http/register/pages";
import { PostForm } from "./post-form";
import { type Problem, ProblemNote, problemOfField } from "./problem";

type EmailFormProps = {
  action: string;
  button: string;
  problem: Problem | undefined;
  /** The email typed before, valid or not. */
  typed: string;
  hidden?: Record<string, string> | undefined;
  /** Offers the passkeys of this site with the emails, where a script asks for them (WebAuthn §5.1.4). */
  takesPasskey?: true;
};

/** A page's form for an email, which works without JavaScript. The field has the focus, and the email typed before. */
export function EmailForm({ action, button, problem, typed, hidden, ...field }: EmailFormProps) {
  return (
    <PostForm action={action} hidden={hidden} className="stack" noValidate>
      <ProblemNote problem={problem} />
      <label htmlFor="email">Email</label>
      <EmailField typed={typed} problem={problem} takesFocus {...field} />
      <button type="submit">{button}</button>
    </PostForm>
  );
}

/** Next to every field for an email: what happens with it. */
export function AboutEmail() {
  const { privacyUrl, termsUrl } = settings();
  return (
    <>
      <a href={privacyUrl ?? pages.privacy.path}>Privacy</a> ·{" "}
      <a href={termsUrl ?? pages.terms.path}>Terms</a>
    </>
  );
}

type EmailFieldProps = Partial<Pick<EmailFormProps, "typed" | "problem" | "takesPasskey">> & {
  takesFocus?: true;
};

/** The email field alone, for other forms. */
export function EmailField({ typed, problem, takesFocus, takesPasskey }: EmailFieldProps) {
  return (
    <input
      id="email"
      name="email"
      type="email"
      autoComplete={takesPasskey ? "username webauthn" : "email"}
      inputMode="email"
      maxLength={254}
      required
      defaultValue={typed}
      {...problemOfField(problem)}
      {...(takesFocus && { autoFocus: true })}
    />
  );
}
