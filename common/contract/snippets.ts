// Code snippets of a request in six languages. Owns the escaping of values in each language.

/** The environment variable that the snippets read the API key from. */
export const KEY_VARIABLE = 'PRESSROOM_KEY';

export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

export interface Snippet {
  id: 'curl' | 'node' | 'python' | 'go' | 'php' | 'java';
  label: string;
  code: string;
}

/** The literal syntax of a language. `open` and `close` enclose the members of a list or object. */
interface Notation {
  indent: string;
  text(value: string): string;
  keyword(value: boolean | null): string;
  list: [open: string, close: string];
  object: [open: string, close: string];
  /** The literal of an empty object, where it differs. */
  emptyObject?: string;
  between: string;
}

/** A JSON string. A lone surrogate becomes U+FFFD: it is not a character. */
const quoted = (text: string) => JSON.stringify(text.toWellFormed());

function literal(value: Json, notation: Notation, depth: number): string {
  if (typeof value === 'string') return notation.text(value);
  if (typeof value === 'number') return String(value);
  if (value === null || typeof value === 'boolean') return notation.keyword(value);
  const members = Array.isArray(value)
    ? value.map(member => literal(member, notation, depth + 1))
    : Object.entries(value).map(
        ([name, member]) =>
          `${notation.text(name)}${notation.between}${literal(member, notation, depth + 1)}`,
      );
  const [open, close] = Array.isArray(value) ? notation.list : notation.object;
  if (members.length === 0) return (!Array.isArray(value) && notation.emptyObject) || open + close;
  const inner = notation.indent.repeat(depth + 1);
  return `${open}\n${inner}${members.join(`,\n${inner}`)},\n${notation.indent.repeat(depth)}${close}`;
}

const JS: Notation = {
  indent: '  ',
  text: quoted,
  keyword: String,
  list: ['[', ']'],
  object: ['{', '}'],
  between: ': ',
};

const PYTHON: Notation = {
  ...JS,
  indent: '    ',
  keyword: value => (value === null ? 'None' : value ? 'True' : 'False'),
};

const GO: Notation = {
  ...JS,
  indent: '\t',
  // Go accepts a byte order mark only at the start of a file.
  text: value => quoted(value).replaceAll('\ufeff', '\\ufeff'),
  keyword: value => (value === null ? 'nil' : String(value)),
  list: ['[]any{', '}'],
  object: ['map[string]any{', '}'],
};

/** A double-quoted PHP string: escapes the dollar, and writes `\u` escapes with braces. */
const phpText = (value: string) =>
  quoted(value).replace(/\\u([0-9a-f]{4})|\\b|\\.|\$/g, (found, code: string | undefined) => {
    if (code !== undefined) return `\\u{${code}}`;
    if (found === '\\b') return '\\x08';
    return found === '$' ? '\\$' : found;
  });

const PHP: Notation = {
  ...JS,
  indent: '    ',
  text: phpText,
  list: ['[', ']'],
  object: ['[', ']'],
  emptyObject: 'new stdClass()',
  between: ' => ',
};

// The body is a here-document: it needs no shell quoting and has no length limit.
const curl = (endpoint: string, request: Json) => `curl -sS --fail-with-body '${endpoint}' \\
  -H "Authorization: Bearer $${KEY_VARIABLE}" \\
  -H 'Content-Type: application/json' \\
  --data-binary @- -o render.pdf <<'JSON'
${JSON.stringify(request, undefined, 2)}
JSON
`;

const node = (endpoint: string, request: Json) => `import { writeFile } from 'node:fs/promises';

const response = await fetch(${quoted(endpoint)}, {
  method: 'POST',
  headers: {
    Authorization: \`Bearer \${process.env.${KEY_VARIABLE}}\`,
    'Content-Type': 'application/json',
  },
  body: JSON.stringify(${literal(request, JS, 1)}),
});
if (!response.ok) {
  const { error } = await response.json();
  throw new Error(\`\${error.code}: \${error.message} (\${error.request_id})\`);
}
await writeFile('render.pdf', Buffer.from(await response.arrayBuffer()));
`;

const python = (endpoint: string, request: Json) => `import os
import requests

response = requests.post(
    ${quoted(endpoint)},
    headers={"Authorization": f"Bearer {os.environ['${KEY_VARIABLE}']}"},
    json=${literal(request, PYTHON, 1)},
    timeout=120,
)
if not response.ok:
    error = response.json()["error"]
    raise SystemExit(f"{error['code']}: {error['message']} ({error['request_id']})")
with open("render.pdf", "wb") as file:
    file.write(response.content)
`;

const go = (endpoint: string, request: Json) => `package main

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
)

func main() {
	body, err := json.Marshal(${literal(request, GO, 1)})
	if err != nil {
		log.Fatal(err)
	}
	request, err := http.NewRequest("POST", ${quoted(endpoint)}, bytes.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("${KEY_VARIABLE}"))
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	pdf, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		log.Fatalf("%s: %s", response.Status, pdf)
	}
	if err := os.WriteFile("render.pdf", pdf, 0o644); err != nil {
		log.Fatal(err)
	}
}
`;

const php = (endpoint: string, request: Json) => `<?php
$request = curl_init(${phpText(endpoint)});
curl_setopt_array($request, [
    CURLOPT_POST => true,
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_HTTPHEADER => [
        'Authorization: Bearer ' . getenv('${KEY_VARIABLE}'),
        'Content-Type: application/json',
    ],
    CURLOPT_POSTFIELDS => json_encode(${literal(request, PHP, 1)}),
]);
$response = curl_exec($request);
if ($response === false) {
    fwrite(STDERR, curl_error($request) . "\\n");
    exit(1);
}
if (curl_getinfo($request, CURLINFO_RESPONSE_CODE) !== 200) {
    fwrite(STDERR, $response . "\\n");
    exit(1);
}
file_put_contents('render.pdf', $response);
`;

/** The limit of a string literal in a class file. */
const MAX_JAVA_LITERAL_BYTES = 65_535;

const hexEscaped = (character: string) =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** A text block, in ASCII: older versions read sources in the encoding of the system. */
const javaText = (request: Json) =>
  `"""\n${JSON.stringify(request, undefined, 2)
    .toWellFormed()
    .replace(/[^\n -~]/g, hexEscaped)
    .replaceAll('\\', '\\\\')
    .replace(/^/gm, '        ')}"""`;

const javaBody = (request: Json) => {
  const text = javaText(request);
  return text.length < MAX_JAVA_LITERAL_BYTES ? text : 'Files.readString(Path.of("request.json"))';
};

const java = (endpoint: string, request: Json) => `import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;

class Render {
    public static void main(String[] arguments) throws Exception {
        String body = ${javaBody(request)};
        HttpRequest request = HttpRequest.newBuilder(URI.create(${quoted(endpoint)}))
            .header("Authorization", "Bearer " + System.getenv("${KEY_VARIABLE}"))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
        HttpResponse<byte[]> response = HttpClient.newHttpClient()
            .send(request, HttpResponse.BodyHandlers.ofByteArray());
        if (response.statusCode() != 200) {
            System.err.println(new String(response.body()));
            System.exit(1);
        }
        Files.write(Path.of("render.pdf"), response.body());
    }
}
`;

/** The snippets of `request` in all languages, curl first. `endpoint` is the URL of the call. */
export function snippets(endpoint: string, request: { [name: string]: Json }): Snippet[] {
  return [
    { id: 'curl', label: 'curl', code: curl(endpoint, request) },
    { id: 'node', label: 'Node', code: node(endpoint, request) },
    { id: 'python', label: 'Python', code: python(endpoint, request) },
    { id: 'go', label: 'Go', code: go(endpoint, request) },
    { id: 'php', label: 'PHP', code: php(endpoint, request) },
    { id: 'java', label: 'Java', code: java(endpoint, request) },
  ];
}
