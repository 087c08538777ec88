// The route for the OpenAPI document of the management API.
import { z } from 'zod';
import { type ConsoleRoute, route } from '../kit/route.ts';
import { consoleOpenApi } from './openapi.ts';

/** `rows` is a function because this row is one of them. */
export function descriptionRoute(
  publicUrl: string,
  rows: () => readonly ConsoleRoute[],
): ConsoleRoute {
  let description: Record<string, unknown> | undefined;
  return route({
    method: 'get',
    path: '/openapi.json',
    id: 'description',
    summary: 'Retrieve this OpenAPI document.',
    access: 'public',
    answer: z.record(z.string(), z.unknown()),
    handle: async () => {
      description ??= { ...consoleOpenApi(publicUrl, rows()) };
      return description;
    },
  });
}
