// Rules of the service that no field, header, error code or endpoint of the contract names. A test
// file refers to a rule by its name.

export interface RuleSection {
  title: string;
  /** The sentence of a rule by its name; names of the contract need none. */
  rules: Record<string, string | undefined>;
}

export const RULES: RuleSection[] = [
  {
    title: 'Requests and responses',
    rules: {
      'unknown-endpoints':
        'Unknown paths get 404 and other methods 405 with `Allow`, in the error envelope.',
      'api-reference':
        '`/openapi.json` and `/docs` are complete and self-contained, and a render can be tried.',
      'client-snippets': 'The client code in docs/clients.md runs.',
      'unknown-fields': 'Unknown fields are rejected by name, with the nearest known field.',
      'wrong-types': '`null` and wrong types are rejected.',
      'order-of-waits':
        'Waits run in the order load, fonts, css, javascript, lazy images, selector, expression, network, delay, animations, resource errors.',
      'order-of-errors': 'Checks run in the order 401, 403, 400, 429.',
      'error-envelope':
        'Each error has a code, a message and a request id; `render_failed` has a reason.',
      'connection-errors': 'Errors that Node sends itself have the error envelope.',
      'client-disconnect':
        'A client that disconnects cancels its render, which frees its slot and lease and is not counted.',
      'half-closed-client':
        'A client that closes its half of the connection after the request gets its response.',
    },
  },
  {
    title: 'Keys, plans and counting',
    rules: {
      'api-keys':
        'A key has an account id, a random part and a checksum. It is shown once and stored as an HMAC.',
      'key-scopes':
        'A key has the scopes `render` and `read` or one of them. A missing one is `401` and named.',
      'test-keys':
        'Renders of a test key are sandbox renders: never counted, within the same concurrency limit.',
      bearer: 'The scheme Bearer is accepted in any case.',
      plans:
        'Free runs 1 render at a time, Starter 2, Growth 4, Scale 8. Administrators can change that.',
      'subscription-states':
        '`past_due` renders within its grace period; `unpaid`, `canceled` and `paused` are rejected.',
      usage: 'A render is counted at most once, a failed one never. Usage starts again each month.',
      leases: 'A lease lasts 15 s and is renewed. The cap holds over all API processes.',
      'client-ip': 'The client address is that of the socket or the right-most untrusted one.',
    },
  },
  {
    title: 'Limits',
    rules: {
      'body-size': 'A body has at most 10 MiB.',
      'queue-bounds': 'The queue is bounded in length, bytes and time.',
      'bytes-in-flight': 'Bodies and PDFs of a process stay within its byte budget.',
      neighbours: 'No page and no caller makes a render of another account fail.',
      'render-memory': 'All processes of a render together stay within the memory limit.',
      egress:
        'Pages reach public addresses only, within limits of bytes, requests and connections.',
      redirects: 'A page follows at most 10 redirects.',
      trial:
        'Trial renders have limits per address and in all, can be switched off, and never go before paid renders.',
      'account-shares':
        'Each account has a share of what is shared: [limits.md](limits.md), row by row.',
      'untagged-pdfs': 'PDFs are untagged unless `PRESSROOM_TAGGED_PDF=on`.',
    },
  },
  {
    title: 'Management API',
    rules: {
      permissions:
        'Each endpoint returns 401, 403, 404 or success to each role, as in the table of permissions.',
      'foreign-ids': 'The ids of another account get 404, and nothing changes.',
      'cross-site-requests':
        'Requests from other sites are rejected by Fetch Metadata, `Origin` and content type.',
      'console-unknown-fields': 'Unknown fields are rejected by name, in bodies and queries.',
      'mongodb-operators': 'Query operators of MongoDB in a request never reach it.',
      'console-bodies': 'Bodies are JSON objects of at most 64 KiB.',
      'display-names':
        'Names contain no control characters or direction marks. HTML in them is shown as text.',
      'console-openapi': 'The OpenAPI document describes every endpoint, and responses match it.',
      teams:
        'A team has at least one owner, also under concurrent changes, and at most 100 members. Only owners make owners.',
      invitations:
        'An invitation link works once, for 7 days, for one email address; at most 50 are open.',
      'account-deletion':
        'A deleted account leaves only its audit log. Once it is deleted, nothing of it can be read or rendered.',
      'audit-log': 'The audit log has each action of its own account, and pages without gaps.',
      administrators:
        'Administrators suspend accounts and disable users at once. The last administrator stays.',
    },
  },
  {
    title: 'MCP and OAuth',
    rules: {
      'POST /mcp':
        'The tool `render_pdf` follows the rules of the API, in the name of a user who allowed it.',
      'GET /files/…':
        'The link to a PDF works from every API process until it expires, within limits per account.',
      'mcp-clients':
        'The official clients and the MCP Inspector connect, render and disconnect, each request on another API process.',
      'oauth-metadata':
        'Metadata follow RFC 8414 and RFC 9728 and contain only what is switched on.',
      'client-registration':
        'Registered clients are bounded, and removed when no user has authorized them.',
      'client-metadata-documents':
        'Client metadata documents are fetched from public https addresses only, within limits.',
      consent:
        'A user consents each time, in the browser that started the request, for an account in which they may render.',
      'popup-consent': 'A login popup keeps its state over password, second factor and SSO.',
      'connected-apps':
        'Users see their connected apps with the last use, and can disconnect them.',
      'authorization-codes':
        'Codes need PKCE with S256 and work once. A stolen code revokes its tokens.',
      'access-tokens': 'Access tokens last an hour, allow only the tool, and are revoked at once.',
      'refresh-tokens':
        'Refresh tokens rotate. A retry within a minute gets the same successor; later it counts as theft.',
      'oauth-without-database':
        'Without MongoDB the OAuth server returns 503 with `Retry-After`, and loses nothing.',
      'oauth-key-rotation': 'Signing keys rotate by a command, without a restart.',
      'oauth-replicas': 'Every API process can serve every step. Keys are created once.',
      'mcp-process-death':
        'When an API process dies, the slot of its call is released and no partial PDF is served.',
      'mcp-streams': 'Streams disable proxy buffering and send something at least every 20 s.',
      'mcp-discovery':
        '`npm start`, `doctor`, the API reference and the chart notes name the MCP endpoint.',
      'mcp-image': "The API's image contains the packages that MCP loads late.",
    },
  },
  {
    title: 'Pages',
    rules: {
      drawings: 'Canvas, SVG and animations are printed.',
      encodings: 'Character sets and compressed bodies are decoded.',
      'frames-and-workers': 'Frames, workers and service workers behave as in a browser.',
      'page-load':
        'Pages that never finish loading, are busy or are large end within their limits.',
      markup: 'Broken HTML, custom elements and scripts of all languages are printed.',
      navigation: 'Meta refresh, redirects and documents that are not HTML behave as in a browser.',
      windows: 'Dialogs, print(), close(), popups and downloads do not stop a render.',
      'page-rules': '`@page` rules change the paper only with `prefer_css_page_size`.',
    },
  },
  {
    title: 'Kubernetes',
    rules: {
      crd: 'The API server and zod accept and reject the same pools, with the same defaults. Each field is described.',
      reconcile:
        'A pool has its Deployment, Service and PodDisruptionBudget. Drift is corrected, and an idle cluster sees no writes.',
      scaling:
        'The size stays between its limits, changes at bounded rates, and does not shrink without data.',
      'idle-pods-first': 'Idle pods are removed first, by their deletion cost.',
      'leader-election':
        'Another replica takes over within 20 s, and a former leader changes nothing.',
      'controller-faults':
        'The controller recovers from API server errors with bounded requests and deletes nothing.',
      chart: 'Secrets and pools survive upgrades.',
      'workers-without-controller':
        'With `autoscaling.mode` hpa, keda or none, the chart runs the pods that the controller would run.',
      'linter-findings':
        'Each finding of kube-score on the chart has a reason in docs/kubernetes.md.',
      release:
        'A release is pushed, signed and bundled by the scripts in `release/`, verifies offline, and is installed by digest.',
      'upgrades-under-load':
        '`helm upgrade` over two versions and `helm rollback` to the first one lose no render.',
      'real-node':
        'The chart is installed, used, upgraded, drained and uninstalled on a real node.',
    },
  },
];
