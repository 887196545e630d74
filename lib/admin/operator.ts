import { type Command, InvalidArgumentError } from "commander";
import { type Confirm, type Run, withExamples } from "@/lib/admin/command";
import { asTable } from "@/lib/admin/print";
import { toFields } from "@/lib/config/instants";
import {
  endOperatorSessions,
  linkMinutes,
  listOperators,
  makeOperatorLink,
  operatorName,
  removeOperator,
} from "@/lib/office/operators";

/** `operator add|list|remove|end`. */
export function addOperatorCommands(program: Command, run: Run, confirm: Confirm): void {
  const operator = program.command("operator").description("the people who work in the office (OFFICE_PORT)");

  withExamples(operator.command("add"), "operator add ann")
    .description(
      `print a link that adds a passkey, once and within ${linkMinutes} minutes; also for a lost passkey`,
    )
    .argument("<name>", "", parseName)
    .action(
      run(async (db, name: string) => {
        const url = await makeOperatorLink(db, name, Date.now());
        return { json: { name, url }, text: url };
      }),
    );

  withExamples(operator.command("list"), "operator list")
    .description("list the operators, with the numbers of their passkeys and sessions")
    .action(
      run(async (db) => {
        const operators = (await listOperators(db, Date.now())).map(toFields);
        return { json: operators, text: asTable(operators, "No operators found.") };
      }),
    );

  withExamples(operator.command("end"), "operator end ann")
    .description("end the sessions of an operator")
    .argument("<name>", "", parseName)
    .action(
      run(async (db, name: string) => {
        await endOperatorSessions(db, name, Date.now());
        return { json: { name, ended: "all" }, text: `Ended the sessions of ${name}.` };
      }),
    );

  withExamples(operator.command("remove"), "operator remove ann")
    .description("remove an operator, with their passkeys and sessions; the audit keeps their name")
    .argument("<name>", "", parseName)
    .action(
      run(async (db, name: string) => {
        await confirm(`This removes the operator ${name}, and ends their sessions.`);
        await removeOperator(db, name, Date.now());
        return { json: { removed: name }, text: `Removed ${name}.` };
      }),
    );
}

function parseName(text: string): string {
  if (!operatorName.test(text)) {
    throw new InvalidArgumentError("It must be 1 to 40 lower-case letters, digits, dots and hyphens.");
  }
  return text;
}
