// The table of fail points has a row for each write of asynchronous renders, and for each change of
// their status.
import { globSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { statusesBefore } from '../../api/jobs/job-status.ts';
import { ASYNC_RENDER_STATUSES } from '../../common/contract/async-renders.ts';
import { jobWrites } from './harness/job-writes.ts';
import { ROOT } from './harness/pressroom-process.ts';

/** The code that writes jobs, their files and the leases of their attempts. */
const FILES = [
  ...globSync('api/jobs/*.ts', { cwd: ROOT }),
  'api/leases/lease-operations.ts',
  'api/store/stored-chunks.ts',
  'api/store/store.ts',
];

/** Methods of the driver that write. */
const WRITE =
  /\.((?:insert|update|delete)(?:One|Many)|replaceOne|findOneAnd\w+|bulkWrite|withTransaction)\(/;
/** The head of a function or method, or a property with a function. */
const HEAD = /^\s*(?:export )?(?:async )?(?:function )?\*?#?(\w+)(?:\(|: .*=>$)/;

const read = (file: string) => readFileSync(`${ROOT}${file}`, 'utf8');

/** `file function method` of each write. */
function writesOf(file: string): string[] {
  const lines = read(file).split('\n');
  return lines.flatMap((line, at) => {
    const method = WRITE.exec(line)?.[1];
    if (method === undefined) return [];
    const heads = lines.slice(0, at).flatMap(before => HEAD.exec(before)?.[1] ?? []);
    return [`${file} ${heads.at(-1)} ${method}`];
  });
}

describe('the fail points of asynchronous renders', () => {
  const { run, repair } = jobWrites();
  const rows = [...run, ...repair];

  it('are at each write in the code', () => {
    const inCode = new Set(FILES.flatMap(writesOf));
    expect(new Set(rows.map(({ code }) => code))).to.deep.equal(inCode);
  });

  it('are at each change of the status', () => {
    const changes = ASYNC_RENDER_STATUSES.flatMap(to =>
      statusesBefore(to).map(from => `${from} to ${to}`),
    );
    const changed = rows.flatMap(({ transition }) => transition?.join(' to ') ?? []);
    expect(new Set(changed)).to.deep.equal(new Set(changes));
  });

  it('are in the only files that write these collections', () => {
    const users = globSync('api/**/*.ts', { cwd: ROOT }).filter(file =>
      /\.asynchronous\.|\basynchronous\b.*\} = .*store/i.test(read(file)),
    );
    expect(users.filter(file => !/^api\/(jobs|store)\//.test(file))).to.deep.equal([]);
  });
});
