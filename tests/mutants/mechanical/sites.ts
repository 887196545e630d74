import { type ESTree, parseSync, Visitor } from "vite";

/** A mistake that a machine makes at one place, by a switch, or none with the switch off. */
export type Site = { file: string; line: number; change: string; edit: Edit };

/** How somebody would make the mistake. */
type Edit = Node & { becomes: string };

/** The source with the mistake made. */
export const makeMistake = (source: string, { edit: { start, end, becomes } }: Site): string =>
  source.slice(0, start) + becomes + source.slice(end);

type Wrap = { start: number; end: number; before: string; after: string };
type Node = { start: number; end: number };

/** What a comparison of values or of a column becomes. */
const boundaries: Record<string, string> = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "is not": "is",
  "not in": "in",
  "!=": "=",
  "<>": "=",
};
/** The calls of a query without which it still is one. */
const dropped = [
  "where",
  "whereRef",
  "having",
  "and",
  "or",
  "forUpdate",
  "forNoKeyUpdate",
  "forShare",
  "skipLocked",
  "onConflict",
];
/** What words and signs of SQL become. */
const ofSql: [RegExp, string][] = [
  [/ and (?!\S+ then)/gi, " or "],
  [/ or /gi, " and "],
  [/ is not /gi, " is "],
  [/ <= /g, " < "],
  [/ < /g, " <= "],
  [/ >= /g, " > "],
  [/ > /g, " >= "],
];

/**
 * Finds the mistakes of a source file, and rewrites it so that each is a switch, on the lines where it was.
 *
 * @param first - the number of its first mistake
 */
export function switchMistakes(file: string, source: string, first: number): { sites: Site[]; text: string } {
  const sites: Site[] = [];
  const wraps: Wrap[] = [];
  const text = ({ start, end }: Node) => source.slice(start, end);
  const short = (node: Node) => text(node).replace(/\s+/g, " ").slice(0, 90);
  function add(
    node: Node,
    change: string,
    edit: Edit,
    wrap: (id: number) => [before: string, after: string],
    at = node,
  ): void {
    const [before, after] = wrap(first + sites.length);
    sites.push({ file, line: source.slice(0, at.start).split("\n").length, change, edit });
    wraps.push({ start: node.start, end: node.end, before, after });
  }
  const becoming = ({ start, end }: Node, becomes: string): Edit => ({ start, end, becomes });
  function replace(node: Node, becomes: string, change: string, edit = becoming(node, becomes)): void {
    add(node, change, edit, (id) => [`($m.on(${id}) ? ${becomes} : `, ")"]);
  }
  const isSame = (node: ESTree.Expression, operator: string): node is ESTree.LogicalExpression =>
    node.type === "LogicalExpression" && node.operator === operator;

  new Visitor({
    LogicalExpression(node) {
      const { left, operator, right } = node;
      if (operator === "??") return;
      for (const operand of [left, right]) {
        if (isSame(operand, operator)) continue;
        const edit = becoming(node, `(${text(operand === left ? right : left)})`);
        const made = operator === "&&";
        const noticed = operand === left ? "turned" : "changed";
        add(operand, `${operator} without ${short(operand)}`, edit, (id) => [
          `($m.isMade(${id}) ? ${made} : $m.${noticed}(${id}, ${made}, `,
          "))",
        ]);
      }
    },
    UnaryExpression(node) {
      const isDouble = node.argument.type === "UnaryExpression" && node.argument.operator === "!";
      const edit = becoming(node, text(node.argument));
      if (node.operator === "!" && !isDouble)
        add(node, `not: ${short(node)}`, edit, (id) => [`($m.on(${id}) !== `, ")"]);
    },
    BinaryExpression(node) {
      const { left, operator, right } = node;
      const becomes = /^[<>]/.test(operator) && boundaries[operator];
      if (!becomes) return;
      const change = `${short(node)} → ${becomes}`;
      const of = (sign: string) => `(x, y) => x ${sign} y`;
      const edit = { start: left.end, end: right.start, becomes: ` ${becomes} ` };
      add(node, change, edit, (id) => [`$m.compared(${id}, ${of(becomes)}, ${of(operator)}, `, ")"]);
      wraps.push({ start: left.end, end: right.start, before: ", /*", after: "*/ " });
    },
    CallExpression(node) {
      const { callee, arguments: given } = node;
      const sign = given[1];
      if (sign?.type === "Literal" && typeof sign.value === "string" && given.length === 3) {
        const becomes = boundaries[sign.value];
        const compared = `${short(given[0] as Node)} ${sign.value} ${short(given[2] as Node)}`;
        if (becomes) replace(sign, `"${becomes}"`, `${compared} → ${becomes}`);
      }
      if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return;
      const { name } = callee.property;
      const { object, property } = callee;
      const gone = `without .${text({ start: property.start, end: node.end }).replace(/\s+/g, " ").slice(0, 90)}`;
      const edit = { start: object.end, end: node.end, becomes: "" };
      if (dropped.includes(name))
        add(object, gone, edit, (id) => [`$m.without(${id}, `, `, "${name}")`], property);
      if (name === "not" && given[0]) replace(node, text(given[0]), `not: ${short(node)}`);
    },
    ExpressionStatement({ expression }) {
      if (expression.type !== "AwaitExpression") return;
      const { start, argument } = expression;
      const edit = { start, end: argument.start, becomes: "" };
      add(argument, `not awaited: ${short(argument)}`, edit, (id) => [`$m.awaited(${id}, `, ")"]);
    },
    TaggedTemplateExpression(node) {
      if (!text(node.tag).startsWith("sql")) return;
      for (const quasi of node.quasi.quasis)
        for (const [words, becomes] of ofSql)
          for (const { index, 0: was } of text(quasi).matchAll(words)) {
            const start = quasi.start + index;
            const found = { start, end: start + was.length };
            const mistaken = source.slice(node.start, start) + becomes + source.slice(found.end, node.end);
            const near = source.slice(
              Math.max(quasi.start + 1, start - 25),
              Math.min(quasi.end - 1, found.end + 25),
            );
            const change = `SQL ${near.replace(/\s+/g, " ")} → ${becomes.trim()}`;
            const edit = { ...found, becomes };
            add(node, change, edit, (id) => [`($m.on(${id}) ? ${mistaken} : `, ")"], found);
          }
    },
  }).visit(parseSync(file, source).program);
  if (sites.length === 0) return { sites, text: source };
  return {
    sites,
    text: `import * as $m from "@/tests/mutants/mechanical/switch"; ${wrapAll(source, wraps)}`,
  };
}

/** Puts the texts before and after their places: of two at one place, the outer one is the one that was found first. */
function wrapAll(source: string, wraps: Wrap[]): string {
  const opened = wraps.map((wrap, order) => ({
    at: wrap.start,
    text: wrap.before,
    size: wrap.start - wrap.end,
    order,
  }));
  const closed = wraps.map((wrap, order) => ({
    at: wrap.end,
    text: wrap.after,
    size: wrap.end - wrap.start,
    order: -order,
  }));
  const inOrder = (a: { at: number; size: number; order: number }, b: typeof a) =>
    a.at - b.at || a.size - b.size || a.order - b.order;
  let text = "";
  let from = 0;
  // What closes at a place stands before what opens there.
  const all = [...closed.sort(inOrder), ...opened.sort(inOrder)].sort((a, b) => a.at - b.at);
  for (const { at, text: put } of all) {
    text += source.slice(from, at) + put;
    from = at;
  }
  return text + source.slice(from);
}
