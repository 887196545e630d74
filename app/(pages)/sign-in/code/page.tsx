import type { Metadata } from "next";
import { headers } from "next/headers";
import { notFound, redirect } from "next/navigation";
import { readCookie } from "@/lib/api/cookies";
import { settings } from "@/lib/settings/settings";
import { codeMinutes, findCodeEmail } from "@/lib/sign-in/code";
import { store } from "@/lib/store/store";
import { anyFormsProblems, Problem } from "../../problem";
import { SiteBanner } from "../../site-banner";

export const metadata: Metadata = { title: "Type the code", robots: { index: false } };

export default async function CodePage({ searchParams }: PageProps<"/sign-in/code">) {
  const browser = readCookie(await headers(), "office-code");
  if (settings().signIn.kind !== "local") notFound();
  const email = browser && (await findCodeEmail(await store(), browser, Date.now()));
  if (!email) redirect("/sign-in?problem=over");
  const { problem, left } = await searchParams;
  const isWrong = problem === "wrong";
  return (
    <div className="narrow">
      <SiteBanner isPublic />
      <h1>Type the code</h1>
      <p>
        If <strong>{email}</strong> has an account, a six-digit code is on its way to it. It works once, in
        this browser, for {codeMinutes} minutes.
      </p>
      <form method="post" action="/sign-in/redeem" className="stack">
        <Problem
          of={problem?.toString() ?? null}
          words={{ ...anyFormsProblems, wrong: wrongCode(Number(left)) }}
        />
        <label htmlFor="code">Code</label>
        <input
          id="code"
          name="code"
          className="code"
          inputMode="numeric"
          autoComplete="one-time-code"
          pattern="\s*(\d\s*){6}"
          title="Six digits"
          maxLength={12}
          required
          aria-invalid={isWrong || undefined}
          aria-describedby={isWrong ? "problem" : undefined}
        />
        <button type="submit">Sign in</button>
      </form>
      <p className="quiet">
        Nothing came? Look in the spam folder, or <a href="/sign-in">ask for another code</a>.
      </p>
    </div>
  );
}

function wrongCode(left: number): string {
  const tries = left === 1 ? "one more try" : `${left} more tries`;
  return `That is not the code. You have ${left >= 1 && left <= 5 ? tries : "a few more tries"}.`;
}
