// Names of fields in other APIs (Puppeteer, Playwright, Gotenberg, wkhtmltopdf and hosted services)
// and what does the same here. Sources: their public API references.

/** Fields by the names for them elsewhere, which are compared without case, `_`, `-` and spaces. */
export const FOREIGN_NAMES: Record<string, readonly string[]> = {
  html: ['source', 'content', 'document', 'htmlContent', 'documentContent', 'markup', 'body'],
  url: ['uri', 'link', 'pageUrl', 'documentUrl', 'targetUrl', 'webpage'],
  format: ['paperFormat', 'paperSize', 'pageSize', 'size', 'paper'],
  paper_width: ['width', 'pageWidth'],
  paper_height: ['height', 'pageHeight'],
  prefer_css_page_size: ['useCssPageSize', 'cssPageSize'],
  landscape: ['orientation', 'pageOrientation'],
  print_background: ['omitBackground', 'noBackground', 'backgroundGraphics'],
  'margin.top': ['marginTop', 'topMargin'],
  'margin.right': ['marginRight', 'rightMargin'],
  'margin.bottom': ['marginBottom', 'bottomMargin'],
  'margin.left': ['marginLeft', 'leftMargin'],
  margin: ['margins', 'pageMargin'],
  'header.html': ['headerTemplate', 'headerHtml', 'headerContent'],
  'footer.html': ['footerTemplate', 'footerHtml', 'footerContent'],
  'header.height': ['headerHeight', 'headerSpacing'],
  'footer.height': ['footerHeight', 'footerSpacing'],
  pages: ['pageRanges', 'nativePageRanges', 'pageRange'],
  emulate_media: [
    'emulatedMediaType',
    'mediaType',
    'emulateMediaType',
    'usePrint',
    'printMediaType',
    'useScreen',
  ],
  raise_for_status: ['failOnHttpStatusCodes', 'failOnStatusCode', 'httpErrorCodes'],
  fail_on_resource_error: [
    'failOnResourceHttpStatusCodes',
    'failOnResourceLoadingFailed',
    'loadErrorHandling',
    'loadMediaErrorHandling',
  ],
  extra_http_headers: ['headers', 'httpHeaders', 'customHeader', 'customHeaders', 'requestHeaders'],
  auth: ['httpAuth', 'basicAuth', 'authentication', 'httpCredentials', 'username', 'password'],
  css: ['styles', 'style', 'stylesheet', 'styleTag', 'addStyleTag', 'customCss', 'userStyleSheet'],
  javascript: ['script', 'scripts', 'addScriptTag', 'customJs', 'js', 'injectJs', 'runScript'],
  wait_delay: ['delay', 'waitDelay', 'renderDelay', 'javascriptDelay', 'waitTime'],
  wait_for_selector: ['selector', 'waitForElement', 'readySelector'],
  wait_for_expression: [
    'waitFor',
    'waitForFunction',
    'waitCondition',
    'windowStatus',
    'expression',
  ],
  timeout: ['navigationTimeout', 'maxWait', 'loadTimeout', 'renderTimeout', 'timeoutMs'],
  wait_for_network_idle: [
    'waitUntil',
    'waitForNetwork',
    'skipNetworkIdleEvent',
    'networkIdle0',
    'networkIdle2',
  ],
  sandbox: ['test', 'testMode', 'isTest', 'watermark', 'draft'],
  filename: ['outputFilename', 'outputFile', 'output', 'path', 'pdfName'],
  'metadata.title': ['title', 'documentTitle', 'pdfTitle'],
  'metadata.author': ['author'],
  'metadata.subject': ['subject'],
  'metadata.keywords': ['keywords'],
};

/** Advice for other names: what to do instead, or that there is nothing like it. */
const ADVICE: [advice: string, names: readonly string[]][] = [
  ['Set `header` and `footer`.', ['displayHeaderFooter', 'headerFooter']],
  [
    'Webhooks are not supported: the response is the PDF.',
    ['webhook', 'webhookUrl', 'callback', 'callbackUrl', 'async', 'webhookMethod'],
  ],
  [
    'It is not supported: the page is laid out for the width of the paper. Set `format`, or `zoom`.',
    ['viewport', 'viewportWidth', 'viewportHeight', 'windowWidth', 'deviceScaleFactor', 'dpi'],
  ],
  [
    'It is not supported. Encrypt the PDF with another program.',
    ['encrypt', 'encryption', 'userPassword', 'ownerPassword', 'protect', 'permissions'],
  ],
  [
    'It is not supported. Convert the PDF with another program.',
    ['pdfa', 'pdfua', 'grayscale', 'greyscale', 'pdfVersion', 'compress', 'merge', 'split'],
  ],
  [
    'It is not supported: scripts of the page always run.',
    ['disableJavascript', 'enableJavascript', 'javascriptEnabled', 'noJavascript'],
  ],
];

const simplified = (name: string) => name.replace(/[-_\s]/g, '').toLowerCase();

const BY_NAME = new Map([
  ...Object.entries(FOREIGN_NAMES).flatMap(([field, names]) =>
    names.map(name => [simplified(name), `Use \`${field}\`.`] as const),
  ),
  ...ADVICE.flatMap(([advice, names]) => names.map(name => [simplified(name), advice] as const)),
]);

/** What to do instead of a field of another API; undefined for all other names. */
export const foreignAdvice = (name: string): string | undefined =>
  name.length > 40 ? undefined : BY_NAME.get(simplified(name));
