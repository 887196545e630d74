import type { OfficePage } from "@/lib/office/page";
import { Table } from "@/lib/office/table";

export const commands: OfficePage = {
  path: "/commands",
  name: "Shell",
  title: () => "What stays in the shell",
  show,
};

/** The commands that stay in the shell, because they need secrets, files or a second thought. */
const list: [what: string, command: string][] = [
  ["Check the settings, the store, the mail and the keys", "check"],
  ["Add an operator, or a passkey for one who lost it", "operator add NAME"],
  ["Remove an operator", "operator remove NAME"],
  ["Create an account without an invitation", "account add EMAIL --plan licensed"],
  ["Give someone a token for a program", "token EMAIL"],
  ["Remove a passkey of an account", "passkey remove EMAIL --all"],
  ["Export everything about a person", "person export EMAIL"],
  ["Erase a person", "person erase EMAIL"],
  ["Rotate or revoke the signing keys", "keys rotate"],
  ["Register an app", "connect add NAME URI"],
  ["Show what an account has bought at Stripe", "billing show EMAIL"],
  ["Read at Stripe what is not settled", "billing reconcile"],
  ["Back the store up, and restore it", "backup FILE"],
  ["Migrate the store ahead of an upgrade", "migrate"],
];

async function show() {
  return (
    <>
      <p>These need a secret, a file or a second thought. Each command has --help.</p>
      <Table
        rows={list}
        columns={{
          To: ([what]) => what,
          Command: ([, command]) => <code>npm run -s admin -- {command}</code>,
        }}
      />
    </>
  );
}
