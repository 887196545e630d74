import { settings } from "@/lib/config/settings";
import { sessionLimits, tokenSafety } from "@/lib/docs/words";
import { operations } from "@/lib/http/register/operations";
import { documentPages } from "@/lib/http/register/pages";

/** The ready-made requests that a person picks in their client, in the order they are listed. */
export const prompts = [
  {
    name: "may_my_company_run",
    title: "May my company run?",
    description: "Whether the account may run, until when, its credits, and what to do if it may not run.",
    write:
      () => `Use get_entitlement, get_credits_balance and get_site_banner to check whether my company may run now.

Answer in at most four sentences: whether it may run, on which plan and until when, how many credits it has, and whether a notice affects it. If it may not run, say why and what I can do, based on the error's hint. If something could not be read, say so and when to try again; do not guess. ${sessionLimits}`,
  },
  {
    name: "write_a_client",
    title: "Write a well-behaved client",
    description: "A small client for the HTTP API that handles its limits, errors and versions.",
    write:
      () => `Write a small client for the Corner Office HTTP API at ${settings().appUrl}, in the language of this project and without new dependencies.

First read these with get_doc: ${[documentPages.quickStart, documentPages.authentication, documentPages.plans, documentPages.errors, documentPages.limits, documentPages.policy].map(({ path }) => path).join(", ")}.

- It calls ${[operations.entitlement, operations.creditsBalance].map(({ path }) => `GET ${path}`).join(" and ")}, and sends API-Version: 1.
- Only a 200 with ok: true means that the account may run. It checks again within recheckAfterSeconds.
- On a 401 it asks for a new token; on a 503 it keeps the token. It branches on error.code.
- After a 429 or a 503 it waits for Retry-After plus a small random delay, and gives up after four attempts. Every request has a timeout.
- It asks for features and limits by their names, and never by the plan's: what is missing in limits, or null, is not limited.
- It ignores unknown fields, and logs when a response carries Deprecation or Sunset.
- The token comes from the environment or the keychain. ${tokenSafety}

Then write a test for each of these against a local fake server.`,
  },
  {
    name: "explain_an_error",
    title: "Explain an API error",
    description: "What an error of the API means, what caused it, and what to do next.",
    write: () =>
      `I got an error from the Corner Office HTTP API and will paste it next, without any token. Find its error.code with search_docs and read that section with get_doc. Explain in a few sentences what it means, whether my program caused it, and what to do next. If I paste a token, do not repeat it: tell me to sign out, which revokes it.`,
  },
];
