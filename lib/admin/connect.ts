import { matching, parser, parseWords } from "@/lib/admin/arguments";
import type { AdminCommand } from "@/lib/admin/command";
import { asTable } from "@/lib/admin/print";
import { asIso } from "@/lib/config/instants";
import { addClient, listClients, removeClient } from "@/lib/oauth/operator-clients";
import { findRedirectFault } from "@/lib/oauth/redirect-uri";
import { listRegisteredClients } from "@/lib/oauth/registered-clients";

const parseClientId = matching(
  /^(?!native$)[a-z0-9][a-z0-9-]{1,63}$/,
  "It must be 2 to 64 lower-case letters, digits and hyphens, and not 'native'.",
);

const parseRedirect = parser(
  (text) => (findRedirectFault(text) ? undefined : text),
  "It must be HTTPS, a loopback address or a scheme of the app, like com.example.app:, in its canonical spelling, without a user name, # or *.",
);

/** `connect list|add|remove`. */
export function addConnectCommands(program: AdminCommand): void {
  const connect = program.command("connect").description("the apps that owners can connect");

  connect
    .add(
      "list",
      "list the apps that you added and those that registered themselves; 'native', for programs on the owner's computer, always exists",
    )
    .does(async ({ db }) => {
      const clients = [
        ...(await listClients(db)).map((client) => ({ ...client, by: "operator", forgottenAtMs: null })),
        ...(await listRegisteredClients(db, Date.now())).map((client) => ({ ...client, by: "itself" })),
      ].map(({ id, name, redirectUris, by, addedAtMs, forgottenAtMs }) => ({
        ...{ id, name, redirectUris, by },
        addedAt: asIso(addedAtMs),
        forgottenAt: asIso(forgottenAtMs),
      }));
      return { json: clients, text: asTable(clients, "No apps found.") };
    });

  connect
    .add(
      "add",
      "add an app: owners see its name, and answers go only to these redirect URIs",
      'connect add studio "Studio for iPhone" com.example.studio:/signed-in http://127.0.0.1/callback',
    )
    .argument("<id>", "the client_id: lower-case letters, digits and hyphens", parseClientId)
    .argument("<name>", "", parseWords)
    .argument(
      "<redirects...>",
      "HTTPS, loopback (on any port) or the app's own scheme",
      (text: string, before: string[] = []) => [...before, parseRedirect(text)],
    )
    .does(async ({ db }, id: string, name: string, redirectUris: string[]) => {
      await addClient(db, { id, name, redirectUris }, Date.now());
      return { json: { id, name, redirectUris }, text: `Added ${id}.` };
    });

  connect
    .add("remove <id>", "remove an app and end its sessions", "connect remove studio")
    .does(async ({ db }, id: string) => {
      await removeClient(db, id, Date.now());
      return { json: { removed: id }, text: `Removed ${id}.` };
    });
}
