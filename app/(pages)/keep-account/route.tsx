import { type KeepLink, readKeepLink } from "@/lib/accounts/leaving/leaving";
import { store } from "@/lib/db/store";
import { handlePage } from "@/lib/http/page";
import { forms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";
import { Clock } from "../clock";
import { narrow } from "../html-page";
import { PostForm } from "../post-form";
import { findProblem, ProblemNote } from "../problem";

/** Asks whether an account is to be kept, and changes nothing: link scanners open every link. */
export const { GET } = handlePage(pages.keepAccount, narrow, async ({ url, nowMs }) => {
  const token = url.searchParams.get("token") ?? "";
  const link = await readKeepLink(await store(), token, nowMs);
  const { title, says } = words[link.state];
  const problem = findProblem(url);
  return {
    title,
    problem,
    status: link.state === "invalid" ? 400 : 200,
    content: (
      <>
        <ProblemNote problem={problem} />
        {link.state === "leaving" ? <Leaving link={link} token={token} /> : <p>{says}</p>}
      </>
    ),
  };
});

const words: Record<KeepLink["state"], { title: string; says?: string }> = {
  leaving: { title: "Keep your account?" },
  stays: { title: "Your account stays", says: "It is not going to be deleted. You can close this page." },
  deleted: {
    title: "The account is deleted",
    says: "Its day of grace has ended, so it cannot be kept any more.",
  },
  invalid: {
    title: "This link does not work",
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
      <PostForm action={forms.keepAccount.path} hidden={{ token }}>
        <button type="submit">Keep my account</button>
      </PostForm>
    </>
  );
}
