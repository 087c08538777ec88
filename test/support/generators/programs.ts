// Small programs that render with a generated client. Each reads PRESSROOM_URL and PRESSROOM_KEY,
// writes `out.pdf`, and checks the error of a render without a key.

/** With the types of openapi-typescript. The unknown field shows that the types have effect. */
export const OPENAPI_FETCH = `
import { writeFileSync } from 'node:fs';
import createClient from 'openapi-fetch';
import type { components, paths } from './types.js';

const baseUrl = process.env['PRESSROOM_URL']!;
const html: components['schemas']['RenderRequest'] = { html: '<h1>Invoice 42</h1>' };
// @ts-expect-error an unknown field
const unknown: components['schemas']['RenderRequest'] = { html: 'x', printBackground: true };

const client = createClient<paths>({
  baseUrl,
  headers: { Authorization: \`Bearer \${process.env['PRESSROOM_KEY']}\` },
});
const { data, error } = await client.POST('/v1/render', { body: html, parseAs: 'arrayBuffer' });
if (error) throw new Error(error.error.message);
writeFileSync('out.pdf', Buffer.from(data));

const rejected = await createClient<paths>({ baseUrl }).POST('/v1/render', { body: html });
if (rejected.error?.error.code !== 'unauthorized') throw new Error('no typed error');
`;

/** With extensions, as Node requires for modules. */
export const HEY_API_CONFIG = `
export default [
  { input: './api.json', output: { path: 'client', importFileExtension: '.js' } },
  { input: './management.json', output: { path: 'management', importFileExtension: '.js' } },
];
`;

export const HEY_API = `
import { writeFileSync } from 'node:fs';
import { client } from './client/client.gen.js';
import { render } from './client/sdk.gen.js';

client.setConfig({ baseUrl: process.env['PRESSROOM_URL']! });
const body = { html: '<h1>Invoice 42</h1>', margin: { top: '20mm' } };
// @ts-expect-error an unknown field
void (() => render({ body: { html: 'x', printBackground: true } }));

const { data, error } = await render({ auth: process.env['PRESSROOM_KEY']!, body });
if (error) throw new Error(error.error.message);
writeFileSync('out.pdf', Buffer.from(await data!.arrayBuffer()));

const rejected = await render({ body });
if (rejected.error?.error.code !== 'unauthorized') throw new Error('no typed error');
`;

export const PYTHON = `
import os
from client import AuthenticatedClient, Client
from client.api.rendering import render
from client.models import ErrorCode, ErrorEnvelope, RenderRequest, RenderRequestMargin

url = os.environ["PRESSROOM_URL"]
body = RenderRequest(html="<h1>Invoice 42</h1>", margin=RenderRequestMargin(top="20mm"))
assert body.to_dict() == {"html": "<h1>Invoice 42</h1>", "margin": {"top": "20mm"}}

pdf = render.sync(client=AuthenticatedClient(url, token=os.environ["PRESSROOM_KEY"]), body=body)
if isinstance(pdf, ErrorEnvelope):
    raise RuntimeError(pdf.error.message)
with open("out.pdf", "wb") as file:
    file.write(pdf.payload.read())

rejected = render.sync(client=Client(url), body=body)
assert isinstance(rejected, ErrorEnvelope) and rejected.error.code == ErrorCode.UNAUTHORIZED
`;

export const GO = `package main

import (
	"context"
	"net/http"
	"os"

	"pressroom.test/api"
	_ "pressroom.test/management"
)

func main() {
	client, err := api.NewClientWithResponses(os.Getenv("PRESSROOM_URL"))
	check(err)
	html, margin := "<h1>Invoice 42</h1>", api.RenderRequest_Margin{}
	check(margin.FromRenderRequestMargin1("20mm"))
	body := api.RenderRequest{Html: &html, Margin: &margin}
	key := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("PRESSROOM_KEY"))
		return nil
	}
	answer, err := client.RenderWithResponse(context.Background(), body, key)
	check(err)
	if answer.StatusCode() != http.StatusOK {
		panic(string(answer.Body))
	}
	check(os.WriteFile("out.pdf", answer.Body, 0o600))

	rejected, err := client.RenderWithResponse(context.Background(), body)
	check(err)
	if rejected.JSON401 == nil || rejected.JSON401.Error.Code != api.ErrorCodeUnauthorized {
		panic("no typed error")
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
`;

/** The runtime that the generator of versions.ts generates for. */
export const GO_MODULE = `module pressroom.test

go 1.25.0

require github.com/oapi-codegen/runtime v1.9.0
`;

/** The rules of Redocly that do not matter here, with the reason. */
export const REDOCLY_CONFIG = `
extends:
  - recommended
rules:
  # The examples are checked against their schemas by test/support/openapi-rules.ts, too.
  no-invalid-media-type-examples: error
  no-invalid-schema-examples: error
  # Liveness and readiness have no input that could be wrong; nor has the document itself.
  operation-4xx-response: off
  # The server is the public URL of the installation; that of the tests is localhost.
  no-server-example.com: off
  # The condition for html and url names properties of the schema around it.
  no-required-schema-properties-undefined: off
`;
