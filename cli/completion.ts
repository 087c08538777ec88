// `pressroom completion`: scripts for shells, made from the tree of commands. They contain all
// words, so that completing a word starts no process.
import { Argument, type Command, type Option } from 'commander';
import { COMMAND } from './command-name.ts';
import type { Terminal } from './terminal.ts';

interface Entry {
  /** The words after `pressroom`, such as `keys create`. */
  path: string;
  description: string;
  subcommands: Entry[];
  /** Choices of its arguments. */
  values: readonly string[];
  options: readonly Option[];
}

/** An option of a render field has its choices in its form: `--emulate-media <screen|print>`. */
const choicesOf = ({ argChoices, flags }: Option): readonly string[] | undefined =>
  argChoices ?? /<([\w-]+(?:\|[\w-]+)+)>/.exec(flags)?.[1]?.split('|');

const entryOf = (command: Command, outer = ''): Entry => {
  const path = `${outer} ${command.name()}`.trim();
  return {
    path,
    description: command.description(),
    subcommands: command.commands.map(each => entryOf(each, path)),
    values: command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
    options: command.options,
  };
};

const all = (entries: readonly Entry[]): Entry[] =>
  entries.flatMap(entry => [entry, ...all(entry.subcommands)]);

const lastWord = ({ path }: Entry) => path.split(' ').at(-1)!;
const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Where nothing matches, such as the source of a render, the shell completes file names. */
function bash(root: Entry): string {
  const inside = all(root.subcommands);
  const words = ({ path, subcommands, values, options }: Entry) => {
    const commands = [...subcommands.map(lastWord), ...values].join(' ');
    const flags = [...options.map(({ long }) => long), '--help'].join(' ');
    return `    ${quoted(path)}) words=${quoted(commands)} options=${quoted(flags)} ;;`;
  };
  const choices = inside.flatMap(({ path, options }) =>
    options.flatMap(option =>
      option.required
        ? [`    '${path} ${option.long}') words=${quoted(choicesOf(option)?.join(' ') ?? '')} ;;`]
        : [],
    ),
  );
  return `_pressroom() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} within='' word words='' options='' at
  for ((at = 1; at < COMP_CWORD; at++)); do
    word=\${COMP_WORDS[at]}
    case "\${within:+$within }$word" in
      ${inside.map(({ path }) => quoted(path)).join(' | ')}) within="\${within:+$within }$word" ;;
    esac
  done
  case "$within" in
${[root, ...inside].map(words).join('\n')}
  esac
  case "$current" in
    -*) words=$options ;;
  esac
  case "$within $previous" in
${choices.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _pressroom pressroom
`;
}

const zsh = (root: Entry) => `autoload -U +X compinit && compinit
autoload -U +X bashcompinit && bashcompinit
${bash(root)}`;

function fish(root: Entry): string {
  const seen = (words: readonly string[]) => `__fish_seen_subcommand_from ${words.join(' ')}`;
  const inside = ({ path, subcommands }: Entry) =>
    [
      ...path.split(' ').map(word => seen([word])),
      ...(subcommands.length > 0 ? [`not ${seen(subcommands.map(lastWord))}`] : []),
    ].join('; and ');
  const line = (condition: string, rest: string, description: string) =>
    `complete -c pressroom -n ${quoted(condition)} ${rest} -d ${quoted(description)}`;
  const linesOf = (entry: Entry, condition: string): string[] => [
    ...entry.subcommands.map(each => line(condition, `-f -a ${lastWord(each)}`, each.description)),
    ...entry.values.map(value => line(condition, `-f -a ${value}`, entry.description)),
    ...entry.options.map(option => {
      const { long, short, required, description } = option;
      const choices = choicesOf(option);
      const names = `-l ${long!.slice(2)}${short ? ` -s ${short.slice(1)}` : ''}`;
      const value = choices ? ` -x -a ${quoted(choices.join(' '))}` : required ? ' -r' : '';
      return line(condition, names + value, description);
    }),
  ];
  return `${[
    ...linesOf(root, '__fish_use_subcommand'),
    ...all(root.subcommands).flatMap(entry => linesOf(entry, inside(entry))),
  ].join('\n')}\n`;
}

const SHELLS = { bash, zsh, fish };

/** Must be added after all other commands. */
export function addCompletionCommand(program: Command, { print }: Terminal): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'Your shell').choices(Object.keys(SHELLS)))
    .description('Print a script that completes commands and options in your shell')
    .addHelpText(
      'after',
      `\nExamples:\n  source <(${COMMAND} completion bash)\n  ${COMMAND} completion fish | source`,
    )
    .action((shell: keyof typeof SHELLS) => {
      const subcommands = program.commands.map(each => entryOf(each));
      print(SHELLS[shell]({ ...entryOf(program), path: '', subcommands }));
    });
}
