import { type KeepLink, readKeepLink } from "@/lib/accounts/leaving";
import { store } from "@/lib/db/store";
import { actions, pages } from "@/lib/http/pages";
import { Clock } from "../clock";
import { htmlPage } from "../html-page";
import { findProblem, ProblemNote, titleOf } from "../problem";
import { Support } from "../support";

/** Asks whether an account is to be kept, and changes nothing: link scanners open every link. */
export const GET = htmlPage(pages.keepAccount, async ({ url, nowMs }) => {
  const token = url.searchParams.get("token") ?? "";
  const link = await readKeepLink(await store(), token, nowMs);
  const { heading, says } = words[link.state];
  const problem = findProblem(Object.fromEntries(url.searchParams), {});
  return {
    title: titleOf(heading, problem),
    status: link.state === "invalid" ? 400 : 200,
    content: (
      <div className="narrow">
        <h1>{heading}</h1>
        <ProblemNote problem={problem} />
        {link.state === "leaving" && <Leaving link={link} token={token} />}
        {says && <p>{says}</p>}
        <Support />
      </div>
    ),
  };
});

const words: Record<KeepLink["state"], { heading: string; says?: string }> = {
  leaving: { heading: "Keep your account?" },
  stays: { heading: "Your account stays", says: "It is not going to be deleted. You can close this page." },
  deleted: {
    heading: "The account is deleted",
    says: "Its day of grace has ended, so it cannot be kept any more.",
  },
  invalid: {
    heading: "This link does not work",
    says: "The link is incomplete, was changed, or is of an earlier email. Open the newest one, exactly as it was sent.",
  },
};

function Leaving({ link, token }: { link: Extract<KeepLink, { state: "leaving" }>; token: string }) {
  return (
    <>
      <p>
        The account of <strong>{link.account.email}</strong> will be deleted on{" "}
        <Clock atMs={link.deletesAtMs} shows="day and time" />. Until then nothing changes.
      </p>
      <form method="post" action={actions.keepAccount.path}>
        <input type="hidden" name="token" value={token} />
        <button type="submit">Keep my account</button>
      </form>
    </>
  );
}
