import { type Command, InvalidArgumentError } from "commander";
import { parseWords, type Run, withExamples } from "@/lib/admin/command";
import { asInstant, asTable } from "@/lib/admin/print";
import { addClient, isAllowedRedirectUri, listClients, removeClient } from "@/lib/oauth/operator-clients";
import { listRegisteredClients } from "@/lib/oauth/registered-clients";

/** `connect list|add|remove`. */
export function addConnectCommands(program: Command, run: Run): void {
  const connect = program.command("connect").description("the apps that ask owners to let them in, by id");

  withExamples(connect.command("list"), "connect list")
    .description(
      "list the apps that were added, and those that registered themselves; 'native', for any program on the owner's computer, is always there",
    )
    .action(
      run(async (db) => {
        const nowMs = Date.now();
        const added = (await listClients(db)).map((client) => ({ ...client, by: "operator" }));
        const registered = (await listRegisteredClients(db, nowMs)).map((client) => ({
          ...client,
          by: "itself",
        }));
        const clients = [...added, ...registered].map(
          ({ id, name, redirectUris, by, addedAtMs, ...more }) => ({
            id,
            name,
            redirectUris,
            by,
            addedAt: asIso(addedAtMs),
            forgottenAt: asIso("forgottenAtMs" in more ? more.forgottenAtMs : undefined),
          }),
        );
        const rows = clients.map(({ redirectUris, addedAt, forgottenAt, ...client }) => ({
          ...client,
          redirectUris: redirectUris.join(" "),
          addedAt: addedAt && asInstant(addedAt, nowMs),
          forgottenAt: forgottenAt && asInstant(forgottenAt, nowMs),
        }));
        return { json: clients, text: asTable(rows, "No app was added.") };
      }),
    );

  withExamples(
    connect.command("add"),
    'connect add studio "Studio for iPhone" com.example.studio:/signed-in http://127.0.0.1/callback',
  )
    .description(
      "make an app known: its name is shown to owners, and its answers go to these addresses alone",
    )
    .argument("<id>", "its client_id: small letters, digits and hyphens", parseClientId)
    .argument("<name>", "", parseWords)
    .argument(
      "<redirects...>",
      "HTTPS, loopback (on any port) or a scheme of its own",
      (text: string, before: string[] = []) => [...before, parseRedirect(text)],
    )
    .action(
      run(async (db, id: string, name: string, redirectUris: string[]) => {
        await addClient(db, { id, name, redirectUris }, Date.now());
        return { json: { id, name, redirectUris }, text: `Added ${id}.` };
      }),
    );

  withExamples(connect.command("remove"), "connect remove studio")
    .description("let it in no longer, and end what owners have let it have")
    .argument("<id>")
    .action(
      run(async (db, id: string) => {
        await removeClient(db, id, Date.now());
        return { json: { removed: id }, text: `Removed ${id}.` };
      }),
    );
}

function asIso(atMs: number | undefined): string | null {
  return atMs === undefined ? null : new Date(atMs).toISOString();
}

function parseClientId(text: string): string {
  if (!/^[a-z0-9][a-z0-9-]{1,63}$/.test(text) || text === "native") {
    throw new InvalidArgumentError("It must be 2 to 64 small letters, digits and hyphens, and not 'native'.");
  }
  return text;
}

function parseRedirect(text: string): string {
  if (!isAllowedRedirectUri(text)) {
    throw new InvalidArgumentError(
      "It must be HTTPS, a loopback address or a scheme like com.example.app:, in its canonical spelling, without a user name, # or *.",
    );
  }
  return text;
}
