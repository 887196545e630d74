import type { AdminCommand } from "@/lib/admin/command";
import { asTable } from "@/lib/admin/print";
import {
  endOperatorSessions,
  linkMinutes,
  listOperators,
  makeOperatorLink,
  removeOperator,
} from "@/lib/auth/operators";
import { asIso } from "@/lib/config/instants";

/** `operator add|list|remove|end`. */
export function addOperatorCommands(program: AdminCommand): void {
  const operator = program.command("operator").description("the people who work in the office (OFFICE_PORT)");

  operator
    .add(
      "add <operator>",
      `print a link that adds a passkey, once and within ${linkMinutes} minutes; also for a lost passkey`,
    )
    .does(async ({ db }, name: string) => {
      const url = await makeOperatorLink(db, name, Date.now());
      return { json: { name, url }, text: url };
    });

  operator
    .add("list", "list the operators, with the numbers of their passkeys and sessions")
    .does(async ({ db }) => {
      const operators = (await listOperators(db, Date.now())).map(({ added_at_ms, ...operator }) => ({
        ...operator,
        addedAt: asIso(added_at_ms),
      }));
      return { json: operators, text: asTable(operators, "No operators found.") };
    });

  operator.add("end <operator>", "end the sessions of an operator").does(async ({ db }, name: string) => {
    await endOperatorSessions(db, name, Date.now());
    return { json: { name, ended: "all" }, text: `Ended the sessions of ${name}.` };
  });

  operator
    .add(
      "remove <operator>",
      "remove an operator, with their passkeys and sessions; the audit keeps their name",
    )
    .does(async ({ db, confirm }, name: string) => {
      await confirm(`This removes the operator ${name}, and ends their sessions.`);
      await removeOperator(db, name, Date.now());
      return { json: { removed: name }, text: `Removed ${name}.` };
    });
}
