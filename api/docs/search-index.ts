// The search index of the docs: one entry for each field, header, operation and section of a guide.
import { fieldsOf, jsonSchema } from '../../common/contract/json-schema.ts';
import type { OpenApi } from '../../common/contract/openapi.ts';
import { renderRequestSchema } from '../../common/contract/render-request.ts';
import type { Guide } from './guides.ts';

export interface SearchEntry {
  title: string;
  /** Where it is, for example `API reference › Fields`. */
  section: string;
  path: string;
  text: string;
}

const REFERENCE = '/docs';

export function searchIndex(document: OpenApi, guides: readonly Guide[]): SearchEntry[] {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, summary, description }]) => ({
      title: summary,
      section: `API reference › ${method.toUpperCase()} ${path}`,
      path: `${REFERENCE}#${operationId}`,
      text: description,
    })),
  );
  const headers = Object.entries(document.components.headers).map(([name, { description }]) => ({
    title: name,
    section: 'API reference › Headers',
    path: `${REFERENCE}#headers`,
    text: description,
  }));
  const sections = guides.flatMap(({ path, title, sections: all }) => [
    { title, section: 'Guides', path, text: '' },
    ...all.map(section => ({
      title: section.title,
      section: `Guides › ${title}`,
      path: `${path}#${section.id}`,
      text: section.text,
    })),
  ]);
  const fields = fieldsOf(jsonSchema(renderRequestSchema, 'input')).map(([name, schema]) => ({
    title: name,
    section: 'API reference › Fields',
    path: `${REFERENCE}#field-${name}`,
    text: (schema.description ?? '').replaceAll('`', ''),
  }));
  return [...operations, ...fields, ...headers, ...sections];
}
