import { parseInstant, parser } from "@/lib/admin/arguments";
import type { AdminCommand } from "@/lib/admin/command";
import { asTable, type Result } from "@/lib/admin/print";
import { asIso } from "@/lib/config/instants";
import type { EventType } from "@/lib/events/event";
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

const parseEvents = parser(parseTypes, "It must be names of events with commas between them.");

/** `webhook add|list|remove|rotate|test|resend`. */
export function addWebhookCommands(program: AdminCommand): void {
  const webhook = program.command("webhook").description("where events are sent");

  webhook
    .add("add <url>", "send events to an address; prints its secret, once")
    .option("--events <names>", "only these, with commas between them", parseEvents)
    .option("--ed25519", "sign with a private key, and print the public one instead of a secret")
    .does(
      async ({ db }, url: string, { events, ed25519 = false }: { events?: EventType[]; ed25519?: boolean }) =>
        tell(await addWebhook(db, { url, types: events, isAsymmetric: ed25519 }, Date.now())),
    );

  webhook.add("list", "list the webhooks, with what waits and what failed").does(async ({ db }) => {
    const webhooks = await Promise.all((await listWebhooks(db)).map((row) => describeWebhook(db, row)));
    const rows = webhooks.map(({ events, ...row }) => ({ ...row, events: events?.join() ?? "all" }));
    return { json: webhooks, text: asTable(rows, "No webhooks found.") };
  });

  webhook
    .add("remove <id>", "send nothing more to an address, also not what waits")
    .does(async ({ db, confirm }, id: string) => {
      await confirm(`This removes the webhook ${id} with what waits for it.`);
      await removeWebhook(db, id, {}, Date.now());
      return { json: { removed: id }, text: `Removed ${id}.` };
    });

  webhook
    .add("rotate <id>", "make a new secret; the one before signs too for a day")
    .does(async ({ db }, id: string) => tell(await rotateWebhook(db, id, {}, Date.now())));

  webhook
    .add("test <id>", "send an event of the type webhook.test; starts a webhook that was given up")
    .does(async ({ db }, id: string) => {
      const { status, answer, isAccepted } = await testWebhook(db, id, {}, Date.now());
      if (!isAccepted) process.exitCode = 1;
      const said = `${status ?? "no answer"}${answer ? `: ${answer}` : ""}`;
      return { json: { id, accepted: isAccepted, status, answer }, text: said };
    });

  webhook
    .add("resend <id>", "send an event again, or all since an instant")
    .option("--event <event>", "the id of one")
    .option("--since <ISO>", "all since then", parseInstant)
    .does(async ({ db }, id: string, { event, since }: { event?: string; since?: number }) => {
      if (event) await resendOne(db, id, event, {}, Date.now());
      else if (since !== undefined) await resendSince(db, id, since, {}, Date.now());
      else
        throw new ApiError("invalid_request", {
          message: "There is neither --event nor --since.",
          hint: "Name one.",
        });
      return { json: { resent: event ?? asIso(since ?? null) }, text: "It is sent again at once." };
    });
}

const tell = (added: { id: string; secret?: string; publicKey?: string }): Result => ({
  json: added,
  text: `${added.id} ${added.secret ?? added.publicKey}`,
});
