// The rules as a file of Prometheus: block style and quoted strings, nothing else of YAML.
import { type Group, groups, WORDS } from './rules.ts';

const HEAD = `# Rules of Pressroom for Prometheus: made by \`npm run generate\`, not by hand. Words in capitals (RELEASE_…, OBJECTIVE_…, RUNBOOK_URL) are replaced by the chart with its values.
# Used without the chart, they have to be replaced by hand; the defaults are in the chart's values under \`alerts\`.
`;

/** As YAML's single-quoted style has it. */
const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

function entries(object: object, indent: string): string[] {
  return Object.entries(object).flatMap(([key, value]) =>
    typeof value === 'string'
      ? [`${indent}${key}: ${quoted(value)}`]
      : [`${indent}${key}:`, ...entries(value, `${indent}  `)],
  );
}

const listed = (lines: string[], indent: string) =>
  lines.map((line, index) => `${indent}${index === 0 ? '- ' : '  '}${line}`);

const groupLines = ({ name, rules }: Group): string[] => [
  ...listed([`name: ${quoted(name)}`, 'rules:'], '  '),
  ...rules.flatMap(rule => listed(entries(rule, ''), '      ')),
];

export const rulesYaml = (): string => `${HEAD}groups:\n${groups.flatMap(groupLines).join('\n')}\n`;

/** A text of rules as the chart writes it with its defaults. */
export const withValues = (text: string): string =>
  Object.entries(WORDS).reduce((done, [word, value]) => done.replaceAll(word, value), text);
