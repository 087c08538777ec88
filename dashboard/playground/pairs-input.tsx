// An input for name-value pairs, such as headers. Keeps rows with an empty name, which the request
// cannot represent.
import { ActionIcon, Button, Group, Stack, TextInput } from '@mantine/core';
import { Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { DescribedFieldset, type FieldProps } from './explained.tsx';
import classes from './playground.module.css';
import { objectIn, type RequestOptions } from './request.ts';

interface Pair {
  id: number;
  name: string;
  value: string;
}

let lastId = 0;
const pair = (name = '', value = ''): Pair => {
  lastId += 1;
  return { id: lastId, name, value };
};
const pairsOf = (object: RequestOptions) =>
  Object.entries(object).map(([name, value]) => pair(name, String(value)));
const objectOf = (pairs: Pair[]): RequestOptions =>
  Object.fromEntries(
    pairs.filter(({ name }) => name !== '').map(({ name, value }) => [name, value]),
  );
const same = (one: RequestOptions, other: RequestOptions) =>
  JSON.stringify(one) === JSON.stringify(other);

export function PairsInput({ field, path, value, onChange, fieldErrors }: FieldProps) {
  const given = objectIn(value);
  const [pairs, setPairs] = useState(() => pairsOf(given));
  const [known, setKnown] = useState(given);
  // The value changed outside of this input, for example by selecting an example.
  if (!same(known, given)) {
    setKnown(given);
    if (!same(objectOf(pairs), given)) setPairs(pairsOf(given));
  }
  const set = (next: Pair[]) => {
    setPairs(next);
    const object = objectOf(next);
    onChange(Object.keys(object).length > 0 ? object : undefined);
  };
  const change = (id: number, part: Partial<Pair>) =>
    set(pairs.map(each => (each.id === id ? { ...each, ...part } : each)));
  return (
    <DescribedFieldset field={field} path={path} fieldErrors={fieldErrors}>
      <Stack gap="xs">
        {pairs.map(({ id, name, value: text }, index) => (
          <div key={id} className={classes.row}>
            <TextInput
              label={`Name ${index + 1}`}
              value={name}
              error={fieldErrors.get(`${path}.${name}`)}
              autoComplete="off"
              spellCheck={false}
              onChange={({ currentTarget }) => change(id, { name: currentTarget.value })}
            />
            <TextInput
              label={`Value ${index + 1}`}
              value={text}
              autoComplete="off"
              spellCheck={false}
              onChange={({ currentTarget }) => change(id, { value: currentTarget.value })}
            />
            <ActionIcon
              size="input-sm"
              variant="default"
              aria-label={`Remove row ${index + 1}`}
              onClick={() => set(pairs.filter(each => each.id !== id))}
            >
              <Trash2 size={16} aria-hidden />
            </ActionIcon>
          </div>
        ))}
        <Group>
          <Button
            size="xs"
            variant="default"
            leftSection={<Plus size={14} aria-hidden />}
            onClick={() => setPairs([...pairs, pair()])}
          >
            Add row
          </Button>
        </Group>
      </Stack>
    </DescribedFieldset>
  );
}
