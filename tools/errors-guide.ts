// Generates docs/guides/errors.md from the contract: a section for each error code and each reason.
import { renderErrorCases, trialErrorCases } from '../common/contract/answers.ts';
import {
  CODE_ADVICE,
  type ErrorAdvice,
  errorAnchor,
  REASON_ADVICE,
} from '../common/contract/error-guide.ts';
import { type ErrorCode, RENDER_FAILED_REASONS, STATUS } from '../common/contract/errors.ts';

const CODES = Object.keys(STATUS) as ErrorCode[];
const CASES = [...renderErrorCases('http://localhost:8080/app'), ...trialErrorCases];

const RETRY: Record<ErrorAdvice['retry'], string> = {
  no: 'no',
  soon: 'yes, after a few seconds',
  after: 'yes, after the seconds in `Retry-After`',
};

const HEAD = `# Errors

Every error is a JSON object with the same form. This request has a field that does not exist:

\`\`\`sh
curl -sS http://localhost:8080/v1/render -H "Authorization: Bearer $PRESSROOM_KEY" \\
  -H 'Content-Type: application/json' -d '{"html": "<h1>Invoice 42</h1>", "printBackground": true}'
\`\`\`

The response has the status 400:

\`\`\`json
{
  "error": {
    "code": "validation_error",
    "message": "\`printBackground\` is not a valid field. Did you mean \`print_background\`?",
    "request_id": "019a8c5e-7d2b-7c44-9e1f-3b6a52c8d011",
    "doc_url": "http://localhost:8080/docs/guides/errors#validation_error"
  }
}
\`\`\`

- \`code\` and \`reason\` are for your program. They do not change. Later versions may add new ones.
- \`message\` is for people. Do not parse it: its text may change.
- \`request_id\` is also in the header \`X-Request-Id\`, in the render log of the dashboard and in the log of the service.
  Include it when you ask for help.
- \`reason\` exists only with the code \`render_failed\`.
- \`doc_url\` is the section of this page about the error.

A request that is rejected (status 4xx) is not a failed render (status 5xx). Neither is counted toward your usage.
[Limits and retries](limits-and-retries.md) shows a program that retries.
`;

function table(): string {
  const rows = CODES.filter(code => code !== 'render_failed').map(
    code =>
      `| [\`${code}\`](#${errorAnchor(code)}) | ${STATUS[code]} | ${RETRY[CODE_ADVICE[code].retry]} |`,
  );
  const reasons = RENDER_FAILED_REASONS.map(
    reason =>
      `| [\`render_failed\`](#${errorAnchor('render_failed', reason)}), \`${reason}\` | ${STATUS.render_failed} | ${RETRY[REASON_ADVICE[reason].retry]} |`,
  );
  return ['| code | status | retry |', '| --- | --- | --- |', ...rows, ...reasons].join('\n');
}

const example = (message: string) => `\n\nExample:\n\n\`\`\`text\n${message}\n\`\`\``;

function codeSection(code: ErrorCode): string {
  const found = CASES.find(each => each.code === code);
  const when = found?.when ?? CODE_ADVICE[code].when;
  if (when === undefined) throw new Error(`${code} has no text that says when it occurs`);
  const shown = found && code !== 'render_failed' ? example(found.message) : '';
  return `## ${code}\n\nStatus ${STATUS[code]}. ${when}\n\n${CODE_ADVICE[code].fix}${shown}`;
}

const reasonSections = RENDER_FAILED_REASONS.map(
  reason =>
    `### render_failed: ${reason}\n\n${REASON_ADVICE[reason].when}\n\n${REASON_ADVICE[reason].fix}`,
);

export const errorsGuide = (): string =>
  [
    HEAD,
    table(),
    '',
    ...CODES.flatMap(code => [
      codeSection(code),
      '',
      ...(code === 'render_failed' ? reasonSections.flatMap(section => [section, '']) : []),
    ]),
  ]
    .join('\n')
    .replace(/\n+$/, '\n');
