// The tables of the migration guides name the same fields as the answers to names of other APIs.
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { FIELD_NAMES } from '../../common/contract/fields.ts';
import { foreignAdvice } from '../../common/contract/foreign-fields.ts';

const GUIDES = fileURLToPath(new URL('../../docs/guides/', import.meta.url));
const simplified = (name: string) => name.replace(/[-_]/g, '').toLowerCase();
const quotedIn = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);

interface Row {
  name: string;
  fields: string[];
  unsupported: boolean;
}

/** The rows of the tables, one for each name, without their heads. */
const rowsOf = (markdown: string): Row[] =>
  [...markdown.matchAll(/^\| (`[^|]+`) \| ([^|]+) \|/gm)].flatMap(([, names, cell]) =>
    quotedIn(names!).map(name => ({
      name,
      fields: quotedIn(cell!),
      unsupported: cell!.trim() === 'not supported',
    })),
  );

const isSame = ({ name, fields }: Row) =>
  fields.some(field => simplified(field) === simplified(name));

for (const guide of globSync('migrating-from-*.md', { cwd: GUIDES })) {
  const rows = rowsOf(readFileSync(`${GUIDES}${guide}`, 'utf8'));

  describe(`the table of ${guide}`, () => {
    it('names only fields that exist', () => {
      expect(rows).to.have.length.greaterThan(15);
      const fields = rows.flatMap(row => row.fields);
      expect(fields.filter(field => !FIELD_NAMES.includes(field))).to.deep.equal([]);
      const empty = rows.filter(row => row.fields.length === 0 && !row.unsupported);
      expect(empty).to.deep.equal([]);
    });

    it('agrees with the error that the API returns for the name', () => {
      const wrong = rows.filter(row => {
        const advice = foreignAdvice(row.name);
        if (advice === undefined) return row.unsupported || !isSame(row);
        if (row.unsupported) return !/not supported/.test(advice);
        return !isSame(row) && !row.fields.some(field => advice.includes(`\`${field}\``));
      });
      expect(wrong.map(({ name }) => [name, foreignAdvice(name)])).to.deep.equal([]);
    });
  });
}
