// The frame of a page about one thing: the link back to the list, and what stands in its place while
// it is not loaded.
import { Anchor, Group } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { ArrowLeft } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { PageHeader } from './page-header.tsx';
import { QueryState } from './query-state.tsx';

export function BackLink({ href, children }: { href: string; children: ReactNode }) {
  return (
    <Anchor component={Link} href={href} size="sm" mb="xs" display="inline-flex">
      <Group gap={4} component="span">
        <ArrowLeft size={14} aria-hidden /> {children}
      </Group>
    </Anchor>
  );
}

interface Props<T> {
  query: UseQueryResult<T>;
  /** Of the list. */
  href: string;
  back: string;
  title: string;
  id: string;
  children(data: T): ReactNode;
}

export function DetailPage<T>({ query, href, back, title, id, children }: Props<T>) {
  const { data } = query;
  return (
    <>
      <BackLink href={href}>{back}</BackLink>
      {data ? children(data) : <PageHeader title={title} description={id} />}
      <QueryState
        query={query}
        title={`Could not load this ${title.toLowerCase()}`}
        keepsData
        rows={6}
        height={56}
      />
    </>
  );
}
