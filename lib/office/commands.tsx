import type { OfficePage } from "@/lib/office/page";
import { Table } from "@/lib/office/table";

export const commands: OfficePage = {
  path: "/commands",
  name: "Shell",
  title: () => "Commands of the shell",
  show,
};

async function show() {
  const { listCommands } = await import("@/lib/admin/run-command"); // the server starts without them
  return (
    <>
      <p>
        What needs a secret, a file or a second thought stays in the shell. Each follows{" "}
        <code>npm run -s admin --</code>, and has <code>--help</code>.
      </p>
      <Table
        rows={listCommands()}
        columns={{
          Command: ({ usage }) => <code>{usage}</code>,
          "What it does": ({ words }) => words,
        }}
      />
    </>
  );
}
