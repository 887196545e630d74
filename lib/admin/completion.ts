import type { Command } from "commander";
import { shellAct } from "@/lib/admin/act";
import { ApiError } from "@/lib/http/errors";

/** What may follow these words of a command: the next words, or the options, each with its description. */
type Step = { words: string; isLast: boolean; next: [word: string, description: string][] };

const writers: Record<string, (program: string, steps: Step[]) => string> = {
  bash: writeForBash,
  zsh: writeForZsh,
  fish: writeForFish,
};

/** Prints what a shell reads to complete the commands of a program. */
export const completionAct = (program: Command) =>
  shellAct({
    usage: "completion <shell>",
    words: "print what bash, zsh or fish reads to complete these commands",
    examples: ["completion bash > /usr/share/bash-completion/completions/office-admin"],
    fields: {
      for: { option: "--for <program>", words: "the name that you call them by", initial: "office-admin" },
    },
    async runWithoutStore(_, { shell, for: name }: { shell: string; for: string }) {
      const write = Object.hasOwn(writers, shell) ? writers[shell] : undefined;
      if (!write || !/^[a-z][\w-]*$/i.test(name)) {
        throw new ApiError("invalid_request", {
          message: write ? "That is no name of a program." : "This shell is not known.",
          hint: "Use 'completion bash', zsh or fish, with the name of a program in its folder of programs.",
        });
      }
      process.stdout.write(write(name, stepsOf(program)));
      return undefined;
    },
  });

function stepsOf(command: Command, shared: Step["next"] = optionsOf(command), words = ""): Step[] {
  const below = command.commands;
  const isLast = below.length === 0;
  const next = isLast
    ? [...optionsOf(command), ...shared]
    : below.map((one): Step["next"][0] => [one.name(), one.summary() || one.description()]);
  const deeper = below.flatMap((one) => stepsOf(one, shared, `${words} ${one.name()}`.trim()));
  return [{ words, isLast, next }, ...deeper];
}

const optionsOf = (command: Command): Step["next"] =>
  command.options.flatMap(({ long, description }) => (long ? [[long, description]] : []));

const functionOf = (program: string) => `_${program.replaceAll("-", "_")}`;

/** A `case` that bash and zsh read: patterns of the words before the cursor, and what may follow. */
function writeCase(steps: Step[]): string {
  const branches = steps.map(
    ({ words, isLast, next }) =>
      `    "${words}"${isLast ? "*" : ""}) all=(${next.map(([word]) => word).join(" ")}) ;;`,
  );
  return ['  case "$before" in', ...branches, "  esac"].join("\n");
}

function writeForBash(program: string, steps: Step[]): string {
  return `${functionOf(program)}() {
  local word before= all=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do [[ $word == -* ]] || before+=" $word"; done
  before=\${before# }
${writeCase(steps)}
  COMPREPLY=($(compgen -W "\${all[*]}" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F ${functionOf(program)} ${program}
`;
}

function writeForZsh(program: string, steps: Step[]): string {
  return `#compdef ${program}
${functionOf(program)}() {
  local -a before all
  before=(\${\${words[2,CURRENT-1]}:#-*})
${writeCase(steps)}
  compadd -a all
}
compdef ${functionOf(program)} ${program}
`;
}

function writeForFish(program: string, steps: Step[]): string {
  const before = `_${functionOf(program)}_before`;
  const quote = (text: string) => `'${text.replace(/[\\']/g, "\\$&")}'`;
  const lines = steps.flatMap(({ words, isLast, next }) =>
    next.map(([word, description]) => {
      const when = quote(`${before} ${quote(words + (isLast ? "*" : ""))}`);
      return `complete -c ${program} -n ${when} -a ${word} -d ${quote(description)}`;
    }),
  );
  return `function ${before}
  set -l words (commandline -opc)
  set -l before
  for word in $words[2..]
    string match -q -- '-*' $word; or set -a before $word
  end
  string match -q -- $argv[1] "$before"
end
complete -c ${program} -f
${lines.join("\n")}
`;
}
