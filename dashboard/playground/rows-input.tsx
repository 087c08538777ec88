// A list of objects, such as cookies: one box each, to add and take away.
import { Button, Fieldset, Group, Stack, Text } from '@mantine/core';
import { Plus, Trash2 } from 'lucide-react';
import { Explained, FieldInput, type FieldProps } from './field-input.tsx';
import { labelOf } from './fields.ts';
import classes from './playground.module.css';
import { type Options, objectIn, withMember } from './request.ts';

export function RowsInput({ field, path, value, onChange, complaints }: FieldProps) {
  const rows = Array.isArray(value) ? value.map(objectIn) : [];
  const one = labelOf(field.name).replace(/s$/, '');
  // What must be given stands there from the beginning, empty.
  const blank: Options = Object.fromEntries(field.fields.filter(({ required }) => required).map(({ name }) => [name, '']));
  const set = (next: Options[]) => onChange(next.length > 0 ? next : undefined);
  return (
    <Fieldset legend={labelOf(field.name)} className={classes.wide}>
      <Text component="div" size="xs" c="dimmed" mb="sm">
        <Explained description={field.description} />
      </Text>
      {complaints.has(path) && (
        <Text size="xs" c="var(--mantine-color-error)" mb="sm">
          {complaints.get(path)}
        </Text>
      )}
      <Stack gap="sm">
        {rows.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a row is nothing but its place in the list, and its controls keep no state worth more
          <Fieldset key={index} legend={`${one} ${index + 1}`}>
            <div className={classes.pair}>
              {field.fields.map(inner => (
                <FieldInput
                  key={inner.name}
                  field={inner}
                  path={`${path}.${index}.${inner.name}`}
                  value={row[inner.name]}
                  onChange={member => set(rows.map((each, at) => (at === index ? withMember(each, inner.name, member) : each)))}
                  complaints={complaints}
                />
              ))}
            </div>
            <Button
              mt="sm"
              size="xs"
              variant="default"
              leftSection={<Trash2 size={14} aria-hidden />}
              onClick={() => set(rows.filter((_, at) => at !== index))}
            >
              {`Remove ${one.toLowerCase()} ${index + 1}`}
            </Button>
          </Fieldset>
        ))}
        <Group>
          <Button size="xs" variant="default" leftSection={<Plus size={14} aria-hidden />} onClick={() => set([...rows, blank])}>
            {`Add a ${one.toLowerCase()}`}
          </Button>
        </Group>
      </Stack>
    </Fieldset>
  );
}
