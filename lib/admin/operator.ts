import { shellAct } from "@/lib/admin/act";
import { asTable } from "@/lib/admin/print";
import {
  endOperatorSessions,
  linkMinutes,
  listOperators,
  makeOperatorLink,
  removeOperator,
} from "@/lib/auth/operators";
import { asIso } from "@/lib/config/instants";

type One = { operator: string };

export const operatorActs = {
  add: shellAct({
    usage: "add <operator>",
    words: `print a link that adds a passkey, once and within ${linkMinutes} minutes; also for a lost passkey`,
    async run({ db, nowMs }, { operator: name }: One) {
      const url = await makeOperatorLink(db, name, nowMs);
      return { json: { name, url }, text: url };
    },
  }),
  list: shellAct({
    usage: "list",
    words: "list the operators, with the numbers of their passkeys and sessions",
    async run({ db, nowMs }) {
      const operators = (await listOperators(db, nowMs)).map(({ added_at_ms, ...operator }) => ({
        ...operator,
        addedAt: asIso(added_at_ms),
      }));
      return { json: operators, text: asTable(operators, "No operators found.") };
    },
  }),
  end: shellAct({
    usage: "end <operator>",
    words: "end the sessions of an operator",
    async run({ db, nowMs }, { operator: name }: One) {
      await endOperatorSessions(db, name, nowMs);
      return { json: { name, ended: "all" }, text: `Ended the sessions of ${name}.` };
    },
  }),
  remove: shellAct({
    usage: "remove <operator>",
    words: "remove an operator, with their passkeys and sessions; the audit keeps their name",
    async run({ db, confirm }, { operator: name }: One) {
      await confirm(`This removes the operator ${name}, and ends their sessions.`);
      await removeOperator(db, name, Date.now());
      return { json: { removed: name }, text: `Removed ${name}.` };
    },
  }),
};
