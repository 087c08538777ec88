// All request options in collapsible sections, with a search over names and descriptions.
import { Accordion, Badge, Group, Text, TextInput } from '@mantine/core';
import { Search } from 'lucide-react';
import { useState } from 'react';
import { FieldInput } from './field-input.tsx';
import { type FieldSection, found } from './fields.ts';
import classes from './playground.module.css';
import { type RequestOptions, withMember } from './request.ts';

interface Props {
  sections: FieldSection[];
  options: RequestOptions;
  onChange(options: RequestOptions): void;
  fieldErrors: ReadonlyMap<string, string>;
}

/** A section's ID, also used for element IDs, which must not contain spaces. */
const idOf = ({ title }: FieldSection) => title.toLowerCase().replace(/\W+/g, '-');

export function OptionsForm({ sections, options, onChange, fieldErrors }: Props) {
  const [search, setSearch] = useState('');
  const [opened, setOpened] = useState<string[]>([]);
  const shown = found(sections, search);
  const hasError = (section: FieldSection) =>
    section.fields.some(({ path }) =>
      [...fieldErrors.keys()].some(each => each === path || each.startsWith(`${path}.`)),
    );
  const withErrors = sections.filter(hasError).map(idOf);
  // A search opens all matching sections. Sections with errors are always open.
  const open = search === '' ? [...new Set([...opened, ...withErrors])] : shown.map(idOf);
  return (
    <>
      <TextInput
        type="search"
        label="Search options"
        placeholder="e.g. margin, wait, cookie"
        leftSection={<Search size={16} aria-hidden />}
        value={search}
        onChange={({ currentTarget }) => setSearch(currentTarget.value)}
        mb="sm"
      />
      {shown.length === 0 && (
        <Text size="sm" c="dimmed" role="status">
          No options match “{search}”.
        </Text>
      )}
      <Accordion
        multiple
        variant="contained"
        order={3}
        value={open}
        onChange={setOpened}
        transitionDuration={0}
        keepMounted={false}
      >
        {shown.map(section => {
          const given = section.fields.filter(({ name }) => name in options).length;
          return (
            <Accordion.Item key={section.title} value={idOf(section)}>
              <Accordion.Control>
                <Group gap="xs">
                  <Text fw={500} size="sm">
                    {section.title}
                  </Text>
                  {given > 0 && (
                    <Badge variant="light" size="sm">
                      {given} set
                    </Badge>
                  )}
                </Group>
              </Accordion.Control>
              <Accordion.Panel>
                <div className={classes.pair}>
                  {section.fields.map(field => (
                    <FieldInput
                      key={field.name}
                      field={field}
                      path={field.path}
                      value={options[field.name]}
                      onChange={value => onChange(withMember(options, field.name, value))}
                      fieldErrors={fieldErrors}
                    />
                  ))}
                </div>
              </Accordion.Panel>
            </Accordion.Item>
          );
        })}
      </Accordion>
    </>
  );
}
