import { Fragment } from "react";
import type { OfficePage } from "@/lib/office/page";

export const commands: OfficePage = {
  path: "/commands",
  name: "Shell",
  title: () => "Commands of the shell",
  show,
};

type Command = { usage: string; words: string };

async function show() {
  const { listCommands } = await import("@/lib/admin/run-command"); // the server starts without them
  const groups = Map.groupBy(listCommands(), ({ usage }: Command) => usage.split(" ", 1)[0] ?? "");
  const several = [...groups].filter(([, { length }]) => length > 1);
  const single = [...groups.values()].filter(({ length }) => length === 1).flat();
  return (
    <>
      <p className="lead">What needs a secret, a file or a second thought stays in the shell.</p>
      <p className="quiet">
        Each follows <code>npm run -s admin --</code>, and has <code>--help</code>.
      </p>
      <div className="commands">
        <Group name="On their own" commands={single} />
        {several.map(([name, commands]) => (
          <Group key={name} name={name} commands={commands} />
        ))}
      </div>
    </>
  );
}

/** The commands of one noun. */
function Group({ name, commands }: { name: string; commands: Command[] }) {
  return (
    <section>
      <h2>{name}</h2>
      <dl>
        {commands.map(({ usage, words }) => (
          <Fragment key={usage}>
            <dt>
              <code>{usage}</code>
            </dt>
            <dd>{words}</dd>
          </Fragment>
        ))}
      </dl>
    </section>
  );
}
