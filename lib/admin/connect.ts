import { type Command, InvalidArgumentError } from "commander";
import { parseWords, type Run, withExamples } from "@/lib/admin/command";
import { asTable } from "@/lib/admin/print";
import { toFields } from "@/lib/config/instants";
import { addClient, isAllowedRedirectUri, listClients, removeClient } from "@/lib/oauth/operator-clients";
import { listRegisteredClients } from "@/lib/oauth/registered-clients";

/** `connect list|add|remove`. */
export function addConnectCommands(program: Command, run: Run): void {
  const connect = program.command("connect").description("the apps that owners can connect");

  withExamples(connect.command("list"), "connect list")
    .description(
      "list the apps that you added and those that registered themselves; 'native', for programs on the owner's computer, always exists",
    )
    .action(
      run(async (db) => {
        const added = (await listClients(db)).map((client) => ({
          ...client,
          by: "operator",
          forgottenAtMs: null,
        }));
        const registered = (await listRegisteredClients(db, Date.now())).map((client) => ({
          ...client,
          by: "itself",
        }));
        const clients = [...added, ...registered].map(
          ({ id, name, redirectUris, by, addedAtMs, forgottenAtMs }) =>
            toFields({ id, name, redirectUris, by, addedAtMs, forgottenAtMs }),
        );
        const rows = clients.map(({ id, name, by, redirectUris, ...times }) => ({
          id,
          name,
          by,
          redirectUris: (redirectUris as string[]).join(" "),
          ...times,
        }));
        return { json: clients, text: asTable(rows, "No apps found.") };
      }),
    );

  withExamples(
    connect.command("add"),
    'connect add studio "Studio for iPhone" com.example.studio:/signed-in http://127.0.0.1/callback',
  )
    .description("add an app: owners see its name, and answers go only to these redirect URIs")
    .argument("<id>", "the client_id: lower-case letters, digits and hyphens", parseClientId)
    .argument("<name>", "", parseWords)
    .argument(
      "<redirects...>",
      "HTTPS, loopback (on any port) or the app's own scheme",
      (text: string, before: string[] = []) => [...before, parseRedirect(text)],
    )
    .action(
      run(async (db, id: string, name: string, redirectUris: string[]) => {
        await addClient(db, { id, name, redirectUris }, Date.now());
        return { json: { id, name, redirectUris }, text: `Added ${id}.` };
      }),
    );

  withExamples(connect.command("remove"), "connect remove studio")
    .description("remove an app and end its sessions")
    .argument("<id>")
    .action(
      run(async (db, id: string) => {
        await removeClient(db, id, Date.now());
        return { json: { removed: id }, text: `Removed ${id}.` };
      }),
    );
}

function parseClientId(text: string): string {
  if (!/^[a-z0-9][a-z0-9-]{1,63}$/.test(text) || text === "native") {
    throw new InvalidArgumentError(
      "It must be 2 to 64 lower-case letters, digits and hyphens, and not 'native'.",
    );
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
