// The input for one request option, generated from its schema: a new option needs no code here.
import {
  Button,
  Fieldset,
  Group,
  NativeSelect,
  Stack,
  Switch,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { Plus, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Json } from '../../common/contract/snippets.ts';
import { DescribedFieldset, Explained, type FieldProps } from './explained.tsx';
import { labelOf, type RequestField } from './fields.ts';
import { PairsInput } from './pairs-input.tsx';
import classes from './playground.module.css';
import {
  membersIn,
  objectIn,
  type RequestOptions,
  switchValue,
  textValue,
  withGroupMember,
  withMember,
} from './request.ts';

/** Puts the description below the control: a click on `details` inside a label would focus it. */
const Below = ({ field, children }: { field: RequestField; children: ReactNode }) => (
  <div className={field.control === 'long' ? classes.wide : undefined}>
    {children}
    <Text component="div" size="xs" c="dimmed" mt={4}>
      <Explained description={field.description} />
    </Text>
  </div>
);

/** The pause in typing after which the value is checked. */
const TYPING_PAUSE_MS = 800;

function TextField({ field, path, value, onChange, fieldErrors }: FieldProps) {
  const text = typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
  // Not on blur: the error line would shift the layout just before a click.
  const [settled] = useDebouncedValue(text, TYPING_PAUSE_MS);
  const example = field.placeholder.replace(/^e\.g\. /, '');
  const fits = settled !== text || text === '' || field.pattern?.test(text) !== false;
  const invalidFormat = example === '' ? 'Invalid format.' : `Invalid format. Example: ${example}`;
  const props = {
    label: labelOf(field.name),
    placeholder: field.placeholder,
    value: text,
    error: fieldErrors.get(path) ?? (fits ? null : invalidFormat),
    required: false,
    spellCheck: false,
    autoComplete: 'off',
  };
  return (
    <Below field={field}>
      {field.control === 'long' ? (
        <Textarea
          {...props}
          className={classes.editor}
          rows={4}
          onChange={({ currentTarget }) => onChange(textValue(currentTarget.value, field))}
        />
      ) : (
        <TextInput
          {...props}
          onChange={({ currentTarget }) => onChange(textValue(currentTarget.value, field))}
        />
      )}
    </Below>
  );
}

function NumberField({ field, path, value, onChange, fieldErrors }: FieldProps) {
  return (
    <Below field={field}>
      <TextInput
        type="number"
        step="any"
        min={field.range.min}
        max={field.range.max}
        label={labelOf(field.name)}
        placeholder={field.placeholder}
        value={typeof value === 'number' ? value : ''}
        error={fieldErrors.get(path)}
        onChange={({ currentTarget }) =>
          onChange(
            Number.isNaN(currentTarget.valueAsNumber) ? undefined : currentTarget.valueAsNumber,
          )
        }
      />
    </Below>
  );
}

/** A select. Also for a boolean without a default, which has three states. */
function ChoiceField({ field, path, value, onChange, fieldErrors }: FieldProps) {
  const choices = field.control === 'switch' ? ['true', 'false'] : field.choices;
  const chosen = (text: string): Json | undefined => {
    if (text === '' || text === field.defaultValue) return undefined;
    return field.control === 'switch' ? text === 'true' : text;
  };
  return (
    <Below field={field}>
      <NativeSelect
        label={labelOf(field.name)}
        data={[
          {
            value: '',
            label: field.defaultValue === undefined ? 'Default' : `Default (${field.defaultValue})`,
          },
          ...choices
            .filter(choice => choice !== field.defaultValue)
            .map(choice => ({ value: choice, label: choice })),
        ]}
        value={value === undefined || value === field.defaultValue ? '' : String(value)}
        error={fieldErrors.get(path)}
        onChange={({ currentTarget }) => onChange(chosen(currentTarget.value))}
      />
    </Below>
  );
}

function SwitchField({ field, path, value, onChange, fieldErrors }: FieldProps) {
  return (
    <Below field={field}>
      <Switch
        label={labelOf(field.name)}
        checked={typeof value === 'boolean' ? value : field.defaultValue === true}
        error={fieldErrors.get(path)}
        onChange={({ currentTarget }) => onChange(switchValue(currentTarget.checked, field))}
      />
    </Below>
  );
}

function GroupField({ field, path, value, onChange, fieldErrors }: FieldProps) {
  const group = membersIn(value, field);
  return (
    <Fieldset legend={labelOf(field.name)} className={classes.wide}>
      <Text component="div" size="xs" c="dimmed" mb="sm">
        <Explained description={field.description} />
        {fieldErrors.has(path) && (
          <Text size="xs" c="var(--mantine-color-error)">
            {fieldErrors.get(path)}
          </Text>
        )}
      </Text>
      <div className={classes.pair}>
        {field.fields.map(inner => (
          <FieldInput
            key={inner.name}
            field={inner}
            path={`${path}.${inner.name}`}
            value={group[inner.name]}
            onChange={member => onChange(withGroupMember(group, inner.name, member))}
            fieldErrors={fieldErrors}
          />
        ))}
      </div>
    </Fieldset>
  );
}

export function FieldInput(props: FieldProps) {
  const { control, defaultValue } = props.field;
  if (control === 'group') return <GroupField {...props} />;
  if (control === 'rows') return <RowsInput {...props} />;
  if (control === 'pairs') return <PairsInput {...props} />;
  if (control === 'number') return <NumberField {...props} />;
  if (control === 'choice' || (control === 'switch' && defaultValue === undefined))
    return <ChoiceField {...props} />;
  return control === 'switch' ? <SwitchField {...props} /> : <TextField {...props} />;
}

/** A list of objects, such as cookies: one box each, to add and remove. */
function RowsInput({ field, path, value, onChange, fieldErrors }: FieldProps) {
  const rows = Array.isArray(value) ? value.map(objectIn) : [];
  const one = labelOf(field.name).replace(/s$/, '');
  // A new row starts with its required members, empty.
  const blank: RequestOptions = Object.fromEntries(
    field.fields.filter(({ required }) => required).map(({ name }) => [name, '']),
  );
  const set = (next: RequestOptions[]) => onChange(next.length > 0 ? next : undefined);
  return (
    <DescribedFieldset field={field} path={path} fieldErrors={fieldErrors}>
      <Stack gap="sm">
        {rows.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no ID, their inputs no state
          <Fieldset key={index} legend={`${one} ${index + 1}`}>
            <div className={classes.pair}>
              {field.fields.map(inner => (
                <FieldInput
                  key={inner.name}
                  field={inner}
                  path={`${path}.${index}.${inner.name}`}
                  value={row[inner.name]}
                  onChange={member =>
                    set(
                      rows.map((each, at) =>
                        at === index ? withMember(each, inner.name, member) : each,
                      ),
                    )
                  }
                  fieldErrors={fieldErrors}
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
          <Button
            size="xs"
            variant="default"
            leftSection={<Plus size={14} aria-hidden />}
            onClick={() => set([...rows, blank])}
          >
            {`Add ${one.toLowerCase()}`}
          </Button>
        </Group>
      </Stack>
    </DescribedFieldset>
  );
}
