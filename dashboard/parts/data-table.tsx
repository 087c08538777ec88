// A table whose rows become cards on narrow screens. The first column is the row header.
import { Button, Group, Paper, Table, Text } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import { Link } from 'wouter';
import classes from './data-table.module.css';

export interface Column<T> {
  title: string;
  cell(row: T): ReactNode;
  /** `end` for numbers. */
  align?: 'end';
  /** The column takes the remaining width and truncates its content. */
  fill?: boolean;
}

interface Props<T> {
  /** The accessible name of the table. */
  label: string;
  columns: Column<T>[];
  rows: T[];
  rowKey(row: T): string;
  /** The link target of the whole row. */
  href?: (row: T) => string;
  /** The buttons of a row, in a last column whose title is for screen readers only. */
  actions?: ((row: T) => ReactNode) | undefined;
  /** Loads further pages. Absent when `rows` is complete. */
  more?: { has: boolean; busy: boolean; load(): void };
}

export function DataTable<T>({ label, columns, rows, rowKey, href, actions, more }: Props<T>) {
  const all: (Column<T> & { hiddenTitle?: boolean })[] = actions
    ? [...columns, { title: 'Actions', hiddenTitle: true, align: 'end', cell: actions }]
    : columns;
  return (
    <>
      <Paper withBorder className={classes.frame}>
        <Table
          className={classes.table}
          aria-label={label}
          verticalSpacing="xs"
          horizontalSpacing="sm"
          highlightOnHover={Boolean(href)}
        >
          <Table.Thead>
            <Table.Tr>
              {all.map(({ title, align, hiddenTitle }) => (
                <Table.Th key={title} scope="col" data-align={align} className={classes.title}>
                  <span className={hiddenTitle ? classes.quiet : undefined}>{title}</span>
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(row => (
              <Table.Tr key={rowKey(row)} className={classes.row}>
                {all.map(({ title, align, cell, hiddenTitle, fill }, index) =>
                  index === 0 ? (
                    <Table.Th key={title} scope="row" className={classes.name} data-fill={fill}>
                      {href ? (
                        <Link href={href(row)} className={classes.link}>
                          {cell(row)}
                        </Link>
                      ) : (
                        cell(row)
                      )}
                    </Table.Th>
                  ) : (
                    <Table.Td
                      key={title}
                      data-align={align}
                      data-fill={fill}
                      data-title={hiddenTitle ? undefined : title}
                      className={classes.cell}
                    >
                      <div>{cell(row)}</div>
                    </Table.Td>
                  ),
                )}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Paper>
      {more && <More {...more} count={rows.length} />}
    </>
  );
}

/**
 * The button keeps the focus while a page loads. After the last page a note replaces it and takes
 * the focus.
 */
function More({ has, busy, load, count }: NonNullable<Props<unknown>['more']> & { count: number }) {
  const pressed = useRef(false);
  const end = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (!has && pressed.current) end.current?.focus();
  }, [has]);
  return (
    <Group justify="center" mt="md">
      {has ? (
        <Button
          variant="default"
          aria-disabled={busy}
          onClick={() => {
            pressed.current = true;
            if (!busy) load();
          }}
        >
          {busy ? 'Loading…' : 'Load more'}
        </Button>
      ) : (
        pressed.current && (
          <Text ref={end} tabIndex={-1} size="sm" c="dimmed">
            All {count} rows loaded.
          </Text>
        )
      )}
    </Group>
  );
}
