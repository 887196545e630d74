import { shellAct } from "@/lib/admin/act";
import { matching, parser, parseWords } from "@/lib/admin/arguments";
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

export const connectActs = {
  list: shellAct({
    usage: "list",
    words:
      "list the apps that you added and those that registered themselves; 'native', for programs on the owner's computer, always exists",
    async run({ db, nowMs }) {
      const clients = [
        ...(await listClients(db)).map((client) => ({ ...client, by: "operator", forgottenAtMs: null })),
        ...(await listRegisteredClients(db, nowMs)).map((client) => ({ ...client, by: "itself" })),
      ].map(({ id, name, redirectUris, by, addedAtMs, forgottenAtMs }) => ({
        id,
        name,
        redirectUris,
        by,
        addedAt: asIso(addedAtMs),
        forgottenAt: asIso(forgottenAtMs),
      }));
      return { json: clients, text: asTable(clients, "No apps found.") };
    },
  }),
  add: shellAct({
    usage: "add <id> <name> <redirects...>",
    words: "add an app: owners see its name, and answers go only to these redirect URIs",
    examples: [
      'connect add studio "Studio for iPhone" com.example.studio:/signed-in http://127.0.0.1/callback',
    ],
    fields: {
      id: { words: "the client_id: lower-case letters, digits and hyphens", parse: parseClientId },
      name: { parse: parseWords },
      redirects: {
        words: "HTTPS, loopback (on any port) or the app's own scheme",
        parse: (text, before: string[] = []) => [...before, parseRedirect(text)],
      },
    },
    async run({ db, nowMs }, { id, name, redirects }: { id: string; name: string; redirects: string[] }) {
      const json = { id, name, redirectUris: redirects };
      await addClient(db, json, nowMs);
      return { json, text: `Added ${id}.` };
    },
  }),
  remove: shellAct({
    usage: "remove <id>",
    words: "remove an app and end its sessions",
    examples: ["connect remove studio"],
    async run({ db, nowMs }, { id }: { id: string }) {
      await removeClient(db, id, nowMs);
      return { json: { removed: id }, text: `Removed ${id}.` };
    },
  }),
};
