import { settings } from "@/lib/config/settings";
import { sessionLimits, tokenSafety } from "@/lib/docs/words";
import { operations } from "@/lib/http/operations";
import { documentPages } from "@/lib/http/pages";

/** A request that a person picks from a menu of their client, instead of finding the words for it. */
export type Prompt = { name: string; title: string; description: string; write: () => string };

/** The prompts, in the order they are listed. */
export const prompts: readonly Prompt[] = [
  {
    name: "may_my_company_run",
    title: "May my company run?",
    description: "Whether the account may run, until when, its credits, and what to do where it may not.",
    write:
      () => `Find out with get_entitlement, get_credits_balance and get_site_banner whether my company may run now.

Answer in four sentences at most: may it run, on which plan and until when, how many credits it has, and whether a notice concerns it. Where it may not run, say why and what I can do, in the words of the answer's hint. Where something could not be told, say so and when to ask again; do not guess. ${sessionLimits}`,
  },
  {
    name: "write_a_client",
    title: "Write a client that behaves",
    description: "A small client for the HTTP API that obeys its limits, its errors and its versions.",
    write:
      () => `Write a small client for the Corner Office HTTP API at ${settings().appUrl}, in the language of this project, without a dependency that it does not have already.

Read first with get_doc: ${[documentPages.quickStart, documentPages.authentication, documentPages.errors, documentPages.limits, documentPages.policy].map(({ path }) => path).join(", ")}.

- It calls ${[operations.entitlement, operations.creditsBalance].map(({ path }) => `GET ${path}`).join(" and ")}, and sends API-Version: 1.
- Only a 200 with ok: true means that the account may run. It asks again within recheckAfterSeconds.
- A 401 means the token is over, and asks for a new one; a 503 does not, and keeps it. Both are told apart by error.code.
- After a 429 or a 503 it waits the seconds of Retry-After and a little longer, at random, and gives up after four tries. Every request has a deadline.
- It ignores fields that it does not know, and says in its log when an answer carries Deprecation or Sunset.
- The token comes from the environment or the keychain. ${tokenSafety}

Then write tests for each of these against a stand-in server.`,
  },
  {
    name: "explain_an_error",
    title: "Explain an error of the API",
    description: "What an answer of the API means, whose fault it is, and what to do next.",
    write: () =>
      `I have an answer of the Corner Office HTTP API that is not a success; I paste it after this, without any token. Find its error.code with search_docs and read that section with get_doc. Say in a few sentences what it means, whether it is my program's fault, and what to do next. If a token is in what I paste, do not repeat it: tell me to sign out, which ends it.`,
  },
];
