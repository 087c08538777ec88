// The same call in five languages, ready to paste. Owns how a request's values are written in each
// language, so that any text arrives as it is.

/** Where the code takes the key from. */
export const KEY_VARIABLE = 'PRESSROOM_KEY';

export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

export interface Snippet {
  id: 'curl' | 'node' | 'python' | 'go' | 'php';
  label: string;
  code: string;
}

/**
 * How a language writes values. `open` and `close` stand around the members of a list or an object.
 */
interface Notation {
  indent: string;
  text(value: string): string;
  word(value: boolean | null): string;
  list: [open: string, close: string];
  object: [open: string, close: string];
  /** An object without a member, where that is written otherwise. */
  emptyObject?: string;
  between: string;
}

/** JSON's own notation. Half a surrogate pair is no character, and JSON could only escape it. */
const quoted = (text: string) => JSON.stringify(text.toWellFormed());

function written(value: Json, notation: Notation, depth: number): string {
  if (typeof value === 'string') return notation.text(value);
  if (typeof value === 'number') return String(value);
  if (value === null || typeof value === 'boolean') return notation.word(value);
  const members = Array.isArray(value)
    ? value.map(member => written(member, notation, depth + 1))
    : Object.entries(value).map(
        ([name, member]) =>
          `${notation.text(name)}${notation.between}${written(member, notation, depth + 1)}`,
      );
  const [open, close] = Array.isArray(value) ? notation.list : notation.object;
  if (members.length === 0) return (!Array.isArray(value) && notation.emptyObject) || open + close;
  const inner = notation.indent.repeat(depth + 1);
  return `${open}\n${inner}${members.join(`,\n${inner}`)},\n${notation.indent.repeat(depth)}${close}`;
}

const JS: Notation = {
  indent: '  ',
  text: quoted,
  word: String,
  list: ['[', ']'],
  object: ['{', '}'],
  between: ': ',
};

const PYTHON: Notation = {
  ...JS,
  indent: '    ',
  word: value => (value === null ? 'None' : value ? 'True' : 'False'),
};

const GO: Notation = {
  ...JS,
  indent: '\t',
  // Go takes a byte order mark at the beginning of a file only.
  text: value => quoted(value).replaceAll('\ufeff', '\\ufeff'),
  word: value => (value === null ? 'nil' : String(value)),
  list: ['[]any{', '}'],
  object: ['map[string]any{', '}'],
};

/**
 * PHP's double-quoted texts: a dollar would begin a variable, and characters by number look
 * different.
 */
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

// The body is read from the lines below the command: no shell quotes it, and it may be longer than
// one word of a command line.
const curl = (address: string, request: Json) => `curl -sS --fail-with-body '${address}' \\
  -H "Authorization: Bearer $${KEY_VARIABLE}" \\
  -H 'Content-Type: application/json' \\
  --data-binary @- -o render.pdf <<'JSON'
${JSON.stringify(request, undefined, 2)}
JSON
`;

const node = (address: string, request: Json) => `import { writeFile } from 'node:fs/promises';

const answer = await fetch(${quoted(address)}, {
  method: 'POST',
  headers: {
    Authorization: \`Bearer \${process.env.${KEY_VARIABLE}}\`,
    'Content-Type': 'application/json',
  },
  body: JSON.stringify(${written(request, JS, 1)}),
});
if (!answer.ok) {
  const { error } = await answer.json();
  throw new Error(\`\${error.code}: \${error.message} (\${error.request_id})\`);
}
await writeFile('render.pdf', Buffer.from(await answer.arrayBuffer()));
`;

const python = (address: string, request: Json) => `import os
import requests

answer = requests.post(
    ${quoted(address)},
    headers={"Authorization": f"Bearer {os.environ['${KEY_VARIABLE}']}"},
    json=${written(request, PYTHON, 1)},
    timeout=120,
)
if not answer.ok:
    error = answer.json()["error"]
    raise SystemExit(f"{error['code']}: {error['message']} ({error['request_id']})")
with open("render.pdf", "wb") as file:
    file.write(answer.content)
`;

const go = (address: string, request: Json) => `package main

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
)

func main() {
	body, err := json.Marshal(${written(request, GO, 1)})
	if err != nil {
		log.Fatal(err)
	}
	request, err := http.NewRequest("POST", ${quoted(address)}, bytes.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("${KEY_VARIABLE}"))
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	pdf, err := io.ReadAll(answer.Body)
	if err != nil {
		log.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK {
		log.Fatalf("%s: %s", answer.Status, pdf)
	}
	if err := os.WriteFile("render.pdf", pdf, 0o644); err != nil {
		log.Fatal(err)
	}
}
`;

const php = (address: string, request: Json) => `<?php
$request = curl_init(${phpText(address)});
curl_setopt_array($request, [
    CURLOPT_POST => true,
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_HTTPHEADER => [
        'Authorization: Bearer ' . getenv('${KEY_VARIABLE}'),
        'Content-Type: application/json',
    ],
    CURLOPT_POSTFIELDS => json_encode(${written(request, PHP, 1)}),
]);
$answer = curl_exec($request);
if ($answer === false) {
    fwrite(STDERR, curl_error($request) . "\\n");
    exit(1);
}
if (curl_getinfo($request, CURLINFO_RESPONSE_CODE) !== 200) {
    fwrite(STDERR, $answer . "\\n");
    exit(1);
}
file_put_contents('render.pdf', $answer);
`;

/**
 * The call of `request` at the installation of `publicUrl` (without a slash at its end), in every
 * language, curl first.
 */
export function snippets(publicUrl: string, request: { [name: string]: Json }): Snippet[] {
  const address = `${publicUrl}/v1/render`;
  return [
    { id: 'curl', label: 'curl', code: curl(address, request) },
    { id: 'node', label: 'Node', code: node(address, request) },
    { id: 'python', label: 'Python', code: python(address, request) },
    { id: 'go', label: 'Go', code: go(address, request) },
    { id: 'php', label: 'PHP', code: php(address, request) },
  ];
}
