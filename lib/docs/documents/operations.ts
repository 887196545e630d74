import { bodyLimits, inKibibytes, quotas } from "@/lib/config/limits";
import type { DocumentText } from "@/lib/docs/document";
import { describeRetirement } from "@/lib/docs/documents/policy";
import { fieldTable } from "@/lib/docs/fields";
import { code, json, table, to, toCode } from "@/lib/docs/markdown";
import { answersOf } from "@/lib/docs/responses";
import { callSamples } from "@/lib/docs/samples";
import { type ErrorCode, errorCatalogue } from "@/lib/http/errors";
import { type Operation, type OperationName, operations } from "@/lib/http/register/operations";
import { whatGoesOn } from "@/lib/mail/mail-content";

/** The page of an operation: its description and fields, with samples and example responses in a panel. */
export function operationDocument(name: OperationName): DocumentText {
  const operation: Operation = operations[name];
  const { methods, path, summary } = operation;
  return {
    title: `${methods[0]} ${path}`,
    group: "Reference",
    operation,
    summary,
    markdown: () =>
      [
        summary,
        ...(operation.retirement ? [`**Being retired:** ${describeRetirement(operation.retirement)}`] : []),
        operationWords[name].about,
        "## Request",
        callSamples(operation),
        "## Fields",
        fieldLists(operation),
        "## Answers",
        examples(name),
        "## Statuses",
        statusTable(operation),
        "## Headers",
        headerTable(operation),
      ].join("\n\n"),
  };
}

function fieldLists(operation: Operation): string {
  const { answer, denial } = operation;
  const refused = denial
    ? `### If the account may not run\n\n${fieldTable(denial)}`
    : `A failure is [the error object](${to.errorObject}).`;
  return `${answer === operations.unsubscribe.answer ? "One line of plain text." : fieldTable(answer)}\n\n${refused}`;
}

function examples(name: OperationName): string {
  const { example } = operationWords[name];
  const blocks = answersOf(operations[name]).flatMap(({ status, refusals }) =>
    Object.entries(refusals).map(([error, body]) => json(body, `${status} ${error}`)),
  );
  const success = typeof example === "string" ? code("text", example, "200") : json(example, "200");
  return [success, ...blocks].join("\n\n");
}

function statusTable(operation: Operation): string {
  const rows = answersOf(operation).flatMap(({ status, meaning, refusals }) => {
    const codes = Object.keys(refusals) as ErrorCode[];
    if (codes.length === 0) return [[String(status), "", meaning]];
    return codes.map((name) => [
      String(status),
      toCode(name),
      codes.length > 1 ? errorCatalogue[name].message : meaning,
    ]);
  });
  return table(["Status", "Code", "Meaning"], rows);
}

function headerTable(operation: Operation): string {
  const answers = answersOf(operation);
  const headers = answers.flatMap(({ status, headers }) => headers.map((header) => ({ ...header, status })));
  const rows = [...Map.groupBy(headers, ({ name }) => name)].map(([name, on]) => [
    `\`${name}\``,
    on.length === answers.length ? "all" : on.map(({ status }) => status).join(", "),
    on[0]?.meaning ?? "",
  ]);
  return table(["Header", "On", "Meaning"], rows);
}

/** A link to the document of an operation, with its first method and its path. */
export function toOperation(name: OperationName): string {
  const { methods, path }: Operation = operations[name];
  return `[\`${methods[0]} ${path}\`](${to[`${name}Operation` as const]})`;
}

/** The documentation of each operation: a description, an example of its 200, and what else people type to find it. */
export const operationWords: Record<
  OperationName,
  { about: string; example: object | string; searched: string }
> = {
  health: {
    about: `Needs no sign-in and reads no account. It is [rate limited](${to.limits}): ${quotas.health.requests} requests per ${quotas.health.windowSeconds} seconds and address.`,
    example: { ok: true, service: "corner-office-web", surface: "web", agent: "not-hosted" },
    searched: "uptime monitor ping alive",
  },
  siteBanner: {
    about:
      "Needs no sign-in. The response is the same for everyone, and browsers on other origins may read it. Shared caches may store it briefly, so a change shows within half a minute.",
    example: { banner: { kind: "warning", message: "We are down for maintenance on Friday at noon." } },
    searched: "cors origins notice announcement maintenance message",
  },
  entitlement: {
    about: `Needs [a session](${to.authentication}). Never cached. Only a \`200\` with \`ok: true\` means that the account may run. Ask again within \`recheckAfterSeconds\`. \`features\` and \`limits\` say [what the plan contains](${to.plans}): what is missing in \`limits\` is not limited. An outage is a \`503\`, never a \`401\`.`,
    example: {
      ok: true,
      status: "licensed",
      recheckAfterSeconds: 900,
      plan: "studio",
      assistantLimit: 7,
      features: ["voice", "weekly-report"],
      limits: { assistants: 7, projects: 20, seats: null },
    },
    searched: "plan licence license subscription may run allowed assistant limit",
  },
  creditsBalance: {
    about: `Needs [a session](${to.authentication}). Never cached. Credits are a count with up to three decimal places, never money.`,
    example: { credits: 1250.5 },
    searched: "credit left remaining usage spend money how many",
  },
  unsubscribe: {
    about: `One-click unsubscribe (RFC 8058). Needs no sign-in: the signed \`token\` in the query is the credential. Use the link of the email exactly as it was sent. It does not expire, and using it again answers \`200\` again. ${whatGoesOn("the")}.

Any body of up to ${inKibibytes(bodyLimits.unsubscribe)} is accepted and ignored. \`GET\` never unsubscribes, because link scanners send it.`,
    example: "The later onboarding emails are stopped.",
    searched: "stop stopped onboarding email emails mail mails newsletter which",
  },
};
