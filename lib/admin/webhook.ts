import { act, type Change, option, type Preview, shellAct } from "@/lib/admin/act";
import { parseInstant, parser } from "@/lib/admin/arguments";
import { asTable, type Result } from "@/lib/admin/print";
import { asIso } from "@/lib/config/instants";
import type { Db } from "@/lib/db/store";
import { type EventType, eventTypeNames } from "@/lib/events/event";
import {
  addWebhook,
  describeWebhook,
  listWebhooks,
  parseTypes,
  removeWebhook,
  resendOne,
  resendSince,
  rotateWebhook,
  testWebhook,
} from "@/lib/events/webhooks";
import { ApiError } from "@/lib/http/errors";
import { titleOf } from "@/lib/plans/plan";

type One = { webhook: string };

/** For example "Account created" for `account.created`. */
export const eventInWords = (name: string) => titleOf(name.replace(".", " "));

export const webhookActs = {
  list: shellAct({
    usage: "list",
    words: "list the webhooks, with what waits and what failed",
    async run({ db }) {
      const webhooks = await Promise.all((await listWebhooks(db)).map((row) => describeWebhook(db, row)));
      const rows = webhooks.map(({ events, ...row }) => ({ ...row, events: events?.join() ?? "all" }));
      return { json: webhooks, text: asTable(rows, "No webhooks found.") };
    },
  }),
  add: act({
    usage: "add <url>",
    words: "send events to an address; prints its secret, once",
    effect: {
      does: "It gets what happens from now on, and nothing from before.",
      undo: "It can be removed at any time.",
    },
    fields: {
      url: { label: "Address of the receiver" },
      events: {
        option: "--events <names>",
        words: "only these, with commas between them",
        parse: parser(parseTypes, `The events are ${eventTypeNames.join(", ")}.`),
        label: "Events it gets; all of them if none is ticked",
        ticks: Object.fromEntries(eventTypeNames.map((name) => [name, eventInWords(name)])),
      },
      ed25519: {
        option: "--ed25519",
        words: "sign with a private key, and print the public one instead of a secret",
      },
    },
    form: { path: "/webhooks/add", name: "add a webhook" },
    run: async (
      { db, by, nowMs },
      { url, events, ed25519 = false }: { url: string; events?: EventType[]; ed25519?: boolean },
    ) => tell(await addWebhook(db, { url, types: events, isAsymmetric: ed25519, by }, nowMs)),
    preview: async (_, { url, events }) => ({
      whom: url,
      changes: [{ what: "Is sent", after: events ? events.map(eventInWords).join(", ") : "all events" }],
    }),
  }),
  rotate: act({
    usage: "rotate <webhook>",
    words: "make a new secret; the one before signs too for a day",
    effect: {
      does: "The new secret is shown once. Give it to the receiver within a day: until then each event is signed with both, so nothing is missed.",
      undo: "The one before cannot be had back.",
    },
    form: { path: "/webhooks/rotate", name: "rotate the secret" },
    run: async ({ db, by, nowMs }, { webhook }: One) => tell(await rotateWebhook(db, webhook, { by }, nowMs)),
    preview: ({ db }, { webhook }) => previewOf(db, webhook, { what: "Secret", after: "a new one" }),
  }),
  remove: act({
    usage: "remove <webhook>",
    words: "send nothing more to an address, also not what waits",
    effect: {
      does: "Nothing is sent there from now on, and what waits for it is lost. One that is added again has another secret.",
    },
    form: {
      path: "/webhooks/remove",
      name: "remove the webhook",
      done: "Removed. Nothing is sent to it any more.",
    },
    async run({ db, by, nowMs, confirm }, { webhook }: One) {
      await confirm(`This removes the webhook ${webhook} with what waits for it.`);
      await removeWebhook(db, webhook, { by }, nowMs);
      return { json: { removed: webhook }, text: `Removed ${webhook}.` };
    },
    preview: ({ db }, { webhook }) =>
      previewOf(db, webhook, { what: "What happens", before: "is sent there", after: "is not sent there" }),
  }),
  test: act({
    usage: "test <webhook>",
    words: "send an event of the type webhook.test; starts a webhook that was given up",
    form: { path: "/webhooks/test", name: "test the webhook" },
    needsNoProof: true,
    async run({ db, by, nowMs }, { webhook: id }: One) {
      const { status, answer, isAccepted } = await testWebhook(db, id, { by }, nowMs);
      const said = `${status ?? "no answer"}${answer ? `: ${answer}` : ""}`;
      return { json: { id, accepted: isAccepted, status, answer }, text: said, isFailure: !isAccepted };
    },
  }),
  resend: act({
    usage: "resend <webhook>",
    words: "send an event again, or all since an instant",
    effect: { does: "The receiver gets them once more, with the ids that they had." },
    examples: ["webhook resend wh_from_the_list --since 2027-01-31T09:00:00Z"],
    fields: {
      event: { option: "--event <event>", words: "the id of one" },
      since: {
        ...option("--since <ISO>", "all since then", parseInstant),
        label: "Send all again since (UTC)",
        as: "time",
      },
    },
    form: {
      path: "/webhooks/resend",
      name: "send again",
      done: "It is sent again within a second, if the receiver answers.",
    },
    needsNoProof: true,
    async run({ db, by, nowMs }, { webhook, event, since }: One & { event?: string; since?: number }) {
      if (event) await resendOne(db, webhook, event, { by }, nowMs);
      else if (since !== undefined) await resendSince(db, webhook, since, { by }, nowMs);
      else {
        const message = "Choose the time since when all is sent again.";
        throw new ApiError("invalid_request", { message, hint: "Or name one event." });
      }
      return { json: { resent: event ?? asIso(since ?? null) }, text: "It is sent again at once." };
    },
  }),
};

async function previewOf(db: Db, webhook: string, change: Change): Promise<Preview> {
  const { url = webhook } = (await listWebhooks(db)).find(({ id }) => id === webhook) ?? {};
  return { whom: url, changes: [change] };
}

/** What a receiver verifies signatures with. It is shown nowhere again. */
export type Added = { id: string; secret?: string; publicKey?: string };

const tell = (added: Added): Result<Added> => ({
  json: added,
  text: `${added.id} ${added.secret ?? added.publicKey}`,
});
